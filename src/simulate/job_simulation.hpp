// Replays one seed of one recurring job: recurrences follow one another, or overlap with several in flight, in virtual
// time. A pure function of its arguments: no thread, no wall clock, no global.
#pragma once

#include "optimize/batch_size/policy.hpp"
#include "optimize/batch_size/profile_book.hpp"
#include "records/job_event.hpp"
#include "records/limit_profile.hpp"
#include "simulate/stage.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zeus::simulate {

// The conditions from a recurrence on. A stage with a device model moves the job to other devices.
struct Phase {
  std::uint64_t from_recurrence = 0;
  const Stage* stage = nullptr;
  std::string device;  // empty: the devices stay and the data drifts
};

struct SimulationOptions {
  double beta = 2.0;
  std::size_t window = 0;
  std::uint64_t recurrences = 0;
  int in_flight = 1;
  // Behaves like live runs: a training that was begun to measure its limits continues as the try if the batch size is
  // the same, and measuring counts against its budget; a recurrence that may not be tried again is given up, and the
  // next one begins. Otherwise, as in the published results, measuring is charged separately, and a workload that
  // cannot be trained is an Error.
  bool live = false;
};

struct SimulatedTry {
  std::uint64_t recurrence = 0;
  TryResult result;
};

// The cost of a recurrence, including its failed tries and the profiling charged to it.
struct SimulatedRecurrence {
  Joules cost;
  Joules expected_cost;  // the try that reached the target at its expected cost, everything else at its actual cost
  Joules last_expected;  // the expected cost of the configuration that reached the target, alone
  Joules optimum;        // the mean cost of the best configuration at the time
};

struct SimulatedJob {
  std::vector<SimulatedTry> tries;
  std::vector<SimulatedRecurrence> recurrences;
  std::vector<records::JobEvent> events;  // only on request
};

using PolicyFactory = std::function<std::unique_ptr<optimize::Policy>(const optimize::JobSpec&)>;

// The spec of the job for a phase's workload.
optimize::JobSpec job_spec(const Stage& stage, const SimulationOptions& options, std::uint64_t seed);

// Whether a limit was measured that is not known yet. If none was, a policy that asked would ask again without end.
bool anything_new(const optimize::ProfileBook& profiles, std::size_t arm,
                  std::span<const records::LimitProfile> measured);

// The try that runs if the requested limits could not be measured. A trace need not have each limit of each batch size:
// then the try runs under the best one that is known, or measures those there are.
records::TryPlan unmeasured(const records::ProfileAsked& asked, const optimize::JobSpec& spec, const Stage& stage,
                            const optimize::ProfileBook& profiles);

// `phases` must not be empty and must be ascending, the first from recurrence 0. A first try that fails, or a
// recurrence that fails too often, is an unavailable Error.
SimulatedJob simulate_job(std::span<const Phase> phases, const SimulationOptions& options, const PolicyFactory& policy,
                          std::uint64_t seed, bool keep_events = false);

}  // namespace zeus::simulate
