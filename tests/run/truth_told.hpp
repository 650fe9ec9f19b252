// Zeus's statements about a script's recurrences, each with its true value. Plain values, and the functions that make
// them from a job as shown by `zeus jobs` and from the true costs of its commands. One thread.
#pragma once

#include "records/job_view.hpp"
#include "tests/run/scripted_training.hpp"
#include "tests/run/truth_script.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::truth {

// A reported value, with the half-width of its 95 % interval if it has one.
struct Said {
  Joules value;
  std::optional<Joules> half_width;
};

struct Statement {
  Said said;
  Joules truth;
  Joules of_default;  // the true cost of the default for the same recurrences

  // Of the default's cost.
  [[nodiscard]] double error() const { return (said.value - truth) / of_default; }
  [[nodiscard]] bool is_held() const {
    const Joules off = said.value < truth ? truth - said.value : said.value - truth;
    return said.half_width && off <= *said.half_width;
  }
};

// The statements at the end of a recurrence.
struct Told {
  bool reached = false;                   // which every script reaches, sooner or later
  std::string given_up;                   // why it was not
  Statement energy;                       // the cost of the recurrence
  Statement cost;                         // of the same
  std::optional<Statement> default_cost;  // the cost of the default for it
  bool ran_default = false;               // which is just what it ran
  // The part of the default's energy that the recurrence is said to save, with the half-width of its interval, if it
  // ran in one try.
  struct Part {
    int batch_size = 0;
    Watts limit;
    double value = 0.0;
    double half_width = 0.0;
  };
  std::optional<Part> saved_part;
  std::optional<Statement> belief;       // the cost of a run of the default batch size at its best limit
  std::optional<Statement> saved_by_it;  // of cost, by this recurrence
  std::optional<Statement> saved_cost;   // by all recurrences so far
  std::optional<Statement> saved_energy;
  // The half-width that Student's distribution gives to the default's cost, from the epochs of its runs so far and the
  // scatter pooled over batch sizes; in parts of that cost.
  std::optional<double> student;
  std::string unknown;              // why no savings are known
  std::optional<Watts> limit;       // that its last run ended under
  std::optional<double> over_best;  // the extra cost of that limit relative to the best one
};

struct Played {
  Script script;
  std::vector<Told> told;  // of recurrences
  bool profiled = false;   // some limit, at some batch size
  // If none was: the same after following the last training's advice; empty if there was no advice.
  std::optional<bool> profiled_by_advice = {};
  std::string failure;       // the exception; usually empty
  std::vector<double> late;  // of runs in real time: how late they reached their end, in parts of the run
};

// Collects the true cost of each command of a script, and compares it with Zeus's statements about each recurrence.
class Witness {
 public:
  explicit Witness(const Script& script) : script_{script}, now_{script} {}

  // A recurrence begins, with the script as it is then.
  void begin(const Script& now);
  void hear(const Took& took);
  // For the recurrence that ended last, from the job as shown after it.
  Told tell(const records::JobView& view);

  [[nodiscard]] bool is_profiled() const { return profiled_; }

 private:
  static void tell_part(const records::JobView& view, Told& told);
  void tell_belief(const records::JobView& view, Told& told, Joules default_cost);
  void tell_savings(const records::JobView& view, Told& told);
  [[nodiscard]] std::optional<double> student() const;
  [[nodiscard]] std::size_t arm_of(int batch_size) const;

  Script script_;
  Script now_;
  std::vector<Cost> took_;     // by recurrences
  std::vector<Cost> default_;  // what they would have cost
  std::vector<std::vector<int>> epochs_ = std::vector<std::vector<int>>(script_.arms.size());  // of whole runs, by arm
  bool profiled_ = false;
};

}  // namespace zeus::truth
