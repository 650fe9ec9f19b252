// Policy `grid`: grid search with pruning, the paper's second baseline. Each recurrence runs one configuration (batch
// size, limit), starting with the default batch size. A batch size that failed is left out. When all have been run, it
// uses the cheapest. One thread at a time.
#pragma once

#include "optimize/batch_size/policy.hpp"

#include <cstdint>

namespace zeus::optimize {

class GridPolicy final : public Policy {
 public:
  explicit GridPolicy(const JobSpec& spec);

  [[nodiscard]] std::string_view name() const override { return "grid"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<GridPolicy>(*this); }
  void apply(const records::JobEvent& event, const ProfileBook& profiles) override;
  [[nodiscard]] Decision decide(const Question& question, const ProfileBook& profiles) const override;
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook&) const override {
    return std::vector<std::optional<CostBelief>>(spec_.arms());
  }

  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter& writer) const override { state(writer, *this); }
  void restore(StateReader& reader) override { state(reader, *this); }

 private:
  struct Running {
    std::uint64_t try_number = 0;
    std::size_t cell = 0;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.try_number, self.cell);
    }
  };

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.limits_, self.pruned_, self.visited_, self.running_, self.best_cell_, self.best_cost_);
  }

  [[nodiscard]] std::size_t arm_of_cell(std::size_t cell) const { return order_[cell / limits_.size()]; }
  [[nodiscard]] std::size_t next_cell() const;
  void move_to(const records::DeviceChanged& changed);

  JobSpec spec_;
  std::vector<std::size_t> order_;  // arms in the order in which they are visited: the default first, then ascending
  std::vector<Watts> limits_;       // in the order in which they are visited: descending
  std::vector<bool> pruned_;        // by arm
  std::size_t visited_ = 0;         // cells handed out so far
  std::vector<Running> running_;
  std::optional<std::size_t> best_cell_;
  Joules best_cost_;
};

}  // namespace zeus::optimize
