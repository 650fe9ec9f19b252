// A recurring training whose every figure is known, drawn from a seed: the length of its start-up, the time and power
// of its steps, epochs and evaluation under any power limit, the number of epochs at each batch size, the form of its
// output. The cost of its runs has a closed form. Plain values; any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::truth {

enum class Dialect {
  tqdm_epoch,    // a bar for each epoch, from 0
  tqdm_whole,    // one bar over all epochs
  keras_2,       // a bar for each epoch, from 1
  keras_3,       // the same in its newer form
  lightning,     // a bar for each epoch that names it, from 0
  hugging_face,  // a bar over all epochs, and dictionaries
  plain_from_0,  // "step 0" first in each epoch
  plain_from_1,  // "step 1" first in each epoch
  plain_whole,   // "step N", counting on over epochs
  nth_epoch,     // every nth step, within the epoch, 0 among them
  nth_whole,     // every nth step, counting on over epochs
  silent,        // no step
};
constexpr std::array<std::string_view, 12> dialect_names = {
    "tqdm",        "tqdm over all", "keras 2",       "keras 3",   "lightning",          "hugging face",
    "step from 0", "step from 1",   "step over all", "every nth", "every nth over all", "no steps"};

// The expressions that the script's user gives Zeus.
enum class Expressions {
  usual,  // the expressions are Zeus's own
  all,    // for the metric, epochs and steps
  metric_only,
};

// The GPU is idle at the beginning, while libraries are loaded, and at the end.
inline constexpr double cold_part = 0.3;

// A batch size.
struct Arm {
  int batch_size = 1;
  int steps = 1;             // of an epoch
  Seconds step;              // at the highest clock without a limit
  physics::Demand training;  // of the GPU while it trains
  Seconds evaluation;        // after the steps of an epoch, at the highest clock without a limit
  physics::Demand evaluating;
  double epochs = 1.0;  // to the target, in the mean before rounding
};

// A permanent change at a recurrence.
struct Change {
  enum class Kind { speed, data, neighbour } kind = Kind::speed;
  int recurrence = 0;   // the first with it
  double factor = 1.0;  // the factor of the speed of steps; the factor of the data; the host's part of a step
};
constexpr std::array<std::string_view, 3> change_names = {"speed", "data", "neighbour"};

struct Script {
  std::uint64_t seed = 0;
  physics::GpuModel gpu;
  Seconds start_up;
  Watts start_up_power;  // of what follows `cold_part` of the start-up, and of as much of the end
  Seconds end;           // what it does after its last epoch
  std::vector<Arm> arms;
  std::size_t usual = 0;            // the default among them
  bool chooses_batch_size = false;  // otherwise there is one arm, unknown to Zeus
  bool has_target = false;
  double scatter = 0.0;        // coefficient of variation of epochs to the target, before rounding
  double step_scatter = 0.02;  // of the time of a step, relative, with mean zero
  double drift = 0.0;          // by how much longer steps take at the end of a run than at its beginning, relative
  bool limits_matter = true;
  Dialect dialect = Dialect::plain_from_0;
  int every = 1;           // steps between two lines, of those that print every nth
  int first_epoch = 0;     // how steps are numbered
  int evaluation_bar = 0;  // of so many steps, which evaluation draws beside that of training; 0: none
  Expressions expressions = Expressions::all;
  double eta = 0.5;
  int recurrences = 8;
  std::optional<Change> change;
};

struct Population {
  bool changes = false;      // each script of those that choose limits only changes once
  bool metric_only = false;  // the user gives no expression but the metric's
  bool alone = false;  // a command without a job: long enough to compare limits, with steps that scatter and drift
};
Script write_script(std::uint64_t seed, const Population& population);

// The energy and time of a run.
struct Cost {
  Joules energy;
  Seconds time;

  friend Cost operator+(Cost a, Cost b) { return {a.energy + b.energy, a.time + b.time}; }
  friend Cost operator*(Cost a, double times) { return {a.energy * times, a.time * times}; }
};
Joules weighed(const Script& script, const Cost& cost);

// The script as it is at a recurrence.
Script at_recurrence(const Script& script, int recurrence);

// In the mean over the scatter of steps.
Cost of_epoch(const Script& script, const Arm& arm, Watts limit);
Cost of_run(const Script& script, const Arm& arm, Watts limit, double epochs);
double expected_epochs(const Script& script, const Arm& arm);
// The default batch size under the highest limit.
Cost expected_default(const Script& script);
// The least cost of an epoch under any of these limits, and the cost under this one relative to it.
double excess_of_limit(const Script& script, const Arm& arm, Watts limit, const std::vector<Watts>& limits);

// The number of epochs of a run for a given normal deviate.
int epochs_of(const Script& script, const Arm& arm, double luck);

}  // namespace zeus::truth
