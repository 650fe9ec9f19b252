// What is known of a recurring job before its first run, and what its user asks for. A plain value. `checked` validates
// it, and all other code relies on that.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace zeus::optimize {

// The cost that a user expects of a run at a batch size, before the first run.
struct PriorBelief {
  int batch_size = 0;
  Joules mean;
  Joules deviation;  // standard deviation of the belief about the mean, above 0

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.batch_size, self.mean, self.deviation);
  }
};

struct JobSpec {
  std::vector<int> batch_sizes;     // the batch sizes to choose from; an "arm" is an index into this list
  int default_batch_size = 0;       // one of them
  std::vector<Watts> power_limits;  // the limits that may be set, ascending
  Watts max_power;                  // MAXPOWER of the cost: the sum over all devices of the job
  int max_epochs = 0;               // a run that has not reached the target by then has failed
  double eta = 0.5;
  double beta = 2.0;                        // a try is stopped at beta x the least cost of a recurrence so far
  std::size_t window = 0;                   // how many observations policies remember, to follow drift; 0 for all
  std::uint64_t seed = 0;                   // seed of the policy's own random draws
  std::vector<PriorBelief> priors;          // policy `zeus` starts from these; an arm without one has a flat prior
  records::ZeusChoices zeus = {};           // choices of policy `zeus`
  std::optional<double> max_slowdown = {};  // limits that make an epoch longer by more than this factor are not chosen

  [[nodiscard]] std::size_t arms() const { return batch_sizes.size(); }
  // The arm of a batch size, which must be in the set.
  [[nodiscard]] std::size_t arm_of(int batch_size) const;
  [[nodiscard]] std::size_t default_arm() const { return arm_of(default_batch_size); }
  // Replaces the devices: their maximum power, and their power limits if the event names any.
  void move_to(const records::DeviceChanged& changed);
};

inline constexpr std::size_t most_batch_sizes = 64;
inline constexpr int most_epochs = 1'000'000;
inline constexpr int most_tries_of_a_recurrence = 20;
inline constexpr std::size_t most_pruning_rounds = 100;
inline constexpr std::size_t most_explorations = 1'000'000;

// The spec with its sets in ascending order. An invalid spec is an invalid_argument Error: no batch size, a default
// outside the set, an eta outside [0, 1], a beta that is not above 0, sizes beyond the bounds above.
JobSpec checked(JobSpec spec);

}  // namespace zeus::optimize
