// What has been profiled of a job: the limits measured for each arm, the cheapest of them for the job's eta, and what
// runs cost besides their epochs. A value that one owner changes. Several threads may read it while none changes it.
#pragma once

#include "base/state_text.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "optimize/cost/energy_time_cost.hpp"
#include "records/limit_profile.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace zeus::optimize {

class ProfileBook {
 public:
  explicit ProfileBook(const JobSpec& spec);

  // Adds measurements. A limit that was measured before is replaced.
  void add(std::size_t arm, std::span<const records::LimitProfile> limits);
  // Scales all limits of an arm to what whole epochs took under one of them: slices show how limits compare, and epochs
  // show how long an epoch is. A limit that was not measured is added.
  void follow(std::size_t arm, const records::LimitProfile& seen);
  // Sets what a run costs besides its epochs, as last seen.
  void begin_with(Joules start_cost) { start_cost_ = start_cost; }
  // Forgets everything: the job moved to other devices, whose power limits and epochs differ.
  void restart(Watts max_power);

  [[nodiscard]] const EnergyTimeCost& cost() const { return cost_; }
  // Ascending by limit; empty for an arm that was never profiled.
  [[nodiscard]] std::span<const records::LimitProfile> limits(std::size_t arm) const { return pages_[arm].limits; }
  [[nodiscard]] bool profiled(std::size_t arm) const { return !pages_[arm].limits.empty(); }
  // The cheapest measured limit of a profiled arm, and the cost of an epoch under it.
  [[nodiscard]] const records::LimitProfile& best(std::size_t arm) const {
    return pages_[arm].limits[pages_[arm].cheapest];
  }
  [[nodiscard]] Joules epoch_cost(std::size_t arm) const { return pages_[arm].epoch_cost; }
  // The same at any batch size; nothing until one is seen.
  [[nodiscard]] std::optional<Joules> start_cost() const { return start_cost_; }
  // The measurement of one limit; null if it was not measured.
  [[nodiscard]] const records::LimitProfile* find(std::size_t arm, Watts limit) const;

  void save(StateWriter& writer) const;
  void restore(StateReader& reader);

 private:
  struct Page {
    std::vector<records::LimitProfile> limits;
    std::size_t cheapest = 0;
    Joules epoch_cost;
    bool by_epochs = false;  // whole epochs were seen since the last slices
  };

  [[nodiscard]] std::size_t cheapest(std::span<const records::LimitProfile> limits) const;

  EnergyTimeCost cost_;
  std::optional<double> max_slowdown_;
  std::optional<Joules> start_cost_;
  std::vector<Page> pages_;
};

// The cheapest of these measured limits of one batch size, which must not be empty, as a job's policy would choose it.
Watts best_limit(const JobSpec& spec, std::span<const records::LimitProfile> measured);

}  // namespace zeus::optimize
