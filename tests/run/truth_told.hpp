// What Zeus says of a script's recurrences, each statement beside what is true of it. Plain values, and what makes them
// of a job as it is shown (`zeus jobs`) and of what its commands really took. One thread.
#pragma once

#include "records/job_view.hpp"
#include "tests/run/scripted_training.hpp"
#include "tests/run/truth_script.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::truth {

// A value that was said, with the half-width of its 95 % interval where it has one.
struct Said {
  Joules value;
  std::optional<Joules> half_width;
};

struct Statement {
  Said said;
  Joules truth;
  Joules of_default;  // the true cost of the default for what the statement is about

  // Of the default's cost.
  [[nodiscard]] double error() const { return (said.value - truth) / of_default; }
  [[nodiscard]] bool is_held() const {
    const Joules off = said.value < truth ? truth - said.value : said.value - truth;
    return said.half_width && off <= *said.half_width;
  }
};

// What was said when a recurrence was over.
struct Told {
  bool reached = false;                   // which every script does, sooner or later
  std::string given_up;                   // why it was not
  Statement energy;                       // that the recurrence took
  Statement cost;                         // of the same
  std::optional<Statement> default_cost;  // what the default would have taken for it
  bool ran_default = false;               // which is just what it ran
  std::optional<Statement> belief;        // what a run of the default batch size costs at its best limit
  std::optional<Statement> saved_by_it;   // of cost, by this recurrence
  std::optional<Statement> saved_cost;    // by all recurrences so far
  std::optional<Statement> saved_energy;
  // The half-width that Student's distribution gives to the default's cost, from the epochs of its runs so far and the
  // scatter pooled over batch sizes; in parts of that cost.
  std::optional<double> student;
  std::string unknown;              // why no savings are known
  std::optional<Watts> limit;       // that its last run ended under
  std::optional<double> over_best;  // what that limit costs more than the best one
};

struct Played {
  Script script;
  std::vector<Told> told;  // of recurrences
  bool profiled = false;   // some limit, at some batch size
  // Where none was: the same once what the last training said to do was done; nothing where it said nothing.
  std::optional<bool> profiled_by_advice = {};
  std::string failure;       // what was thrown; empty mostly
  std::vector<double> late;  // of runs in real time: how late they reached their end, in parts of the run
};

// Hears what each command of a script really took, and says what Zeus told of each recurrence and what is true.
class Witness {
 public:
  explicit Witness(const Script& script) : script_{script}, now_{script} {}

  // A recurrence begins, with the script as it is then.
  void begin(const Script& now);
  void hear(const Took& took);
  // Of the recurrence that ended last, by the job as it is shown after it.
  Told tell(const records::JobView& view);

  [[nodiscard]] bool is_profiled() const { return profiled_; }

 private:
  void tell_belief(const records::JobView& view, Told& told, Joules default_cost);
  void tell_savings(const records::JobView& view, Told& told);
  [[nodiscard]] std::optional<double> student() const;
  [[nodiscard]] std::size_t arm_of(int batch_size) const;

  Script script_;
  Script now_;
  std::vector<Cost> took_;     // by recurrences
  std::vector<Cost> default_;  // what they would have taken
  std::vector<std::vector<int>> epochs_ = std::vector<std::vector<int>>(script_.arms.size());  // of whole runs, by arm
  bool profiled_ = false;
};

}  // namespace zeus::truth
