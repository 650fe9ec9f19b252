// Jobs and their events, in short form: for tests of decisions about batch sizes. The cost of these jobs is energy
// alone (eta 1), so a cost is simply a number of joules. Plain functions.
#pragma once

#include "optimize/batch_size/job_spec.hpp"
#include "optimize/batch_size/profile_book.hpp"
#include "records/job_event.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace zeus::test {

inline optimize::JobSpec energy_job(std::vector<int> batch_sizes, int default_batch_size) {
  return optimize::checked({.batch_sizes = std::move(batch_sizes),
                            .default_batch_size = default_batch_size,
                            .power_limits = {100_W, 150_W, 200_W},
                            .max_power = 200_W,
                            .max_epochs = 100,
                            .eta = 1.0,
                            .priors = {}});
}

inline records::TrySubmitted submitted(std::uint64_t number, std::uint64_t recurrence, int batch_size,
                                       records::TryPurpose purpose = records::TryPurpose::exploit) {
  return {.try_number = number, .recurrence = recurrence, .plan = {.batch_size = batch_size, .purpose = purpose}};
}

inline records::TryEnded ended(std::uint64_t number, std::uint64_t recurrence, int batch_size, double cost,
                               records::TryOutcome outcome = records::TryOutcome::reached, int epochs = 10) {
  return {.try_number = number,
          .recurrence = recurrence,
          .batch_size = batch_size,
          .outcome = outcome,
          .epochs = epochs,
          .energy = Joules{cost},
          .time = {}};
}

// An epoch of 10 s under a limit, with this many joules.
inline records::LimitProfile measured(Watts limit, double epoch_cost) {
  return {.limit = limit, .epoch_time = 10_s, .average_power = Watts{epoch_cost / 10.0}};
}

}  // namespace zeus::test
