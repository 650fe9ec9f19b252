// What has been profiled of a job: for each arm the limits measured, and the cheapest of them for the job's eta; and
// what runs take beside their epochs.
// A value that one owner changes; reading it is safe from several threads while no thread does.
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

  // Adds what was measured; a limit measured before is replaced.
  void add(std::size_t arm, std::span<const records::LimitProfile> limits);
  // All limits of an arm follow what whole epochs took under one of them: slices tell how limits compare, epochs how
  // long one is. A limit that was not measured is added.
  void follow(std::size_t arm, const records::LimitProfile& seen);
  // What a run takes beside its epochs, as it was seen last.
  void begin_with(Joules start_cost) { start_cost_ = start_cost; }
  // Forgets everything: the job moved to other devices, whose power limits and epochs differ.
  void restart(Watts max_power);

  [[nodiscard]] const EnergyTimeCost& cost() const { return cost_; }
  // Ascending by limit; empty for an arm that was never profiled.
  [[nodiscard]] std::span<const records::LimitProfile> limits(std::size_t arm) const { return pages_[arm].limits; }
  [[nodiscard]] bool profiled(std::size_t arm) const { return !pages_[arm].limits.empty(); }
  // The cheapest measured limit of an arm that is profiled, and what an epoch costs under it.
  [[nodiscard]] const records::LimitProfile& best(std::size_t arm) const {
    return pages_[arm].limits[pages_[arm].cheapest];
  }
  [[nodiscard]] Joules epoch_cost(std::size_t arm) const { return pages_[arm].epoch_cost; }
  // Of a run at any batch size; nothing while none was seen.
  [[nodiscard]] std::optional<Joules> start_cost() const { return start_cost_; }
  // The measurement of one limit; nothing when it was not measured.
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

}  // namespace zeus::optimize
