// Plays a script's recurrences through what `zeus run` has, on a virtual clock, with a virtual GPU in this process and
// a store in memory: lines, expressions, steps and epochs, limits, energy, the driver and the job are the real ones.
// What is said after each recurrence is kept beside what is true. One thread.
#pragma once

#include "tests/run/truth_script.hpp"
#include "tests/support/temporary_folder.hpp"

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
  std::string failure;     // what was thrown; empty mostly
};

// How far a command that runs without Zeus, under a limit that stays and with steps that do not scatter, is off what
// the law says it costs: the greater relative error of energy and time, over all batch sizes. It is the instrument that
// is tested by that.
double error_of_law(Script script);

// Leases are written down in `folder`, which all scripts of a process share.
Played play(const Script& script, const test::TemporaryFolder& folder);

}  // namespace zeus::truth
