// Policy `default`: always the default batch size at the maximum power limit, which is what practitioners do. One
// thread at a time.
#pragma once

#include "optimize/batch_size/policy.hpp"

namespace zeus::optimize {

class DefaultPolicy final : public Policy {
 public:
  explicit DefaultPolicy(const JobSpec& spec)
      : arms_{spec.arms()}, run_{.arm = spec.default_arm(), .limit = spec.power_limits.back(), .max_epochs = {}} {}

  [[nodiscard]] std::string_view name() const override { return "default"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<DefaultPolicy>(*this); }
  void apply(const records::JobEvent& event, const ProfileBook&) override {
    if (const auto* changed = std::get_if<records::DeviceChanged>(&event); changed && !changed->power_limits.empty()) {
      run_.limit = changed->power_limits.back();
    }
  }
  [[nodiscard]] Decision decide(const Question&, const ProfileBook&) const override { return run_; }
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook&) const override {
    return std::vector<std::optional<CostBelief>>(arms_);
  }

  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter& writer) const override { state(writer, *this); }
  void restore(StateReader& reader) override { state(reader, *this); }

 private:
  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.run_.limit);
  }

  std::size_t arms_;
  RunTry run_;
};

}  // namespace zeus::optimize
