// What is known of a recurring job before its first run, and what its user asks for.
// A plain value; `checked` makes sure that it makes sense, and everything else relies on that.
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

// What a user believes a run at a batch size costs, before any was seen.
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
  std::vector<int> batch_sizes;     // the set to choose from; an "arm" is an index into it
  int default_batch_size = 0;       // one of them
  std::vector<Watts> power_limits;  // the limits that may be set, ascending
  Watts max_power;                  // MAXPOWER of the cost, of all devices of the job together
  int max_epochs = 0;               // a run that has not reached the target by then has failed
  double eta = 0.5;
  double beta = 2.0;                        // early stop at beta x the least cost of a recurrence so far
  std::size_t window = 0;                   // how many observations policies remember, for drift; 0 for all
  std::uint64_t seed = 0;                   // of the policy's own random draws
  std::vector<PriorBelief> priors;          // policy `zeus` starts from these; none for an arm is a flat prior
  records::ZeusChoices zeus = {};           // of policy `zeus`
  std::optional<double> max_slowdown = {};  // limits that make an epoch longer by more than this factor are not chosen

  [[nodiscard]] std::size_t arms() const { return batch_sizes.size(); }
  // The arm of a batch size that is in the set.
  [[nodiscard]] std::size_t arm_of(int batch_size) const;
  [[nodiscard]] std::size_t default_arm() const { return arm_of(default_batch_size); }
  // The devices are others from now on.
  void move_to(const records::DeviceChanged& changed);
};

inline constexpr std::size_t most_batch_sizes = 64;
inline constexpr int most_epochs = 1'000'000;
inline constexpr int most_tries_of_a_recurrence = 20;
inline constexpr std::size_t most_pruning_rounds = 100;
inline constexpr std::size_t most_explorations = 1'000'000;

// The spec with its sets in ascending order. A spec that cannot be (no batch size, a default outside the set, eta
// outside [0, 1], beta not above 0, sizes beyond the bounds above) is an invalid_argument Error.
JobSpec checked(JobSpec spec);

}  // namespace zeus::optimize
