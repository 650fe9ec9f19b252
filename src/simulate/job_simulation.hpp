// One seed of one recurring job, replayed: recurrences follow one another, or overlap with several in flight, on a
// virtual time line. A pure function of its arguments: no thread, no wall clock, no global.
#pragma once

#include "optimize/batch_size/policy.hpp"
#include "records/job_event.hpp"
#include "simulate/stage.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zeus::simulate {

// What holds from a recurrence on. A stage with a device model moves the job to other devices.
struct Phase {
  std::uint64_t from_recurrence = 0;
  const Stage* stage = nullptr;
  std::string device;  // empty: the devices stay, the data drifts
};

struct SimulationOptions {
  double beta = 2.0;
  std::size_t window = 0;
  std::uint64_t recurrences = 0;
  int in_flight = 1;
  // As live runs do it: a training that was begun to have its limits measured goes on as the try, if that is of its
  // batch size, and measuring counts against its budget; a recurrence that may not be tried again is given up, and the
  // next one begins. Otherwise measuring is charged by itself, as the published results have it, and a workload that
  // cannot be trained is an Error.
  bool live = false;
};

struct SimulatedTry {
  std::uint64_t recurrence = 0;
  TryResult result;
};

// What a recurrence took in all, its failed tries and the profiling charged to it included.
struct SimulatedRecurrence {
  Joules cost;
  Joules expected_cost;  // the try that reached at its expected cost, everything else as it fell
  Joules last_expected;  // the expected cost of the configuration that reached, alone
  Joules optimum;        // the mean cost of the best configuration at the time
};

struct SimulatedJob {
  std::vector<SimulatedTry> tries;
  std::vector<SimulatedRecurrence> recurrences;
  std::vector<records::JobEvent> events;  // only when asked for
};

using PolicyFactory = std::function<std::unique_ptr<optimize::Policy>(const optimize::JobSpec&)>;

// The spec of the job that a phase's workload is.
optimize::JobSpec job_spec(const Stage& stage, const SimulationOptions& options, std::uint64_t seed);

// `phases` is not empty and ascending, the first from recurrence 0. A first try that fails, or a recurrence that fails
// too often, is an unavailable Error.
SimulatedJob simulate_job(std::span<const Phase> phases, const SimulationOptions& options, const PolicyFactory& policy,
                          std::uint64_t seed, bool keep_events = false);

}  // namespace zeus::simulate
