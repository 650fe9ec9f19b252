// Policy `oracle`: the best configuration according to everything in the traces. Regret is measured against it. One
// thread at a time.
#pragma once

#include "optimize/batch_size/policy.hpp"

namespace zeus::optimize {

class OraclePolicy final : public Policy {
 public:
  OraclePolicy(std::size_t best_arm, Watts best_limit)
      : best_{.arm = best_arm, .limit = best_limit, .max_epochs = {}} {}

  [[nodiscard]] std::string_view name() const override { return "oracle"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<OraclePolicy>(*this); }
  void apply(const records::JobEvent&, const ProfileBook&) override {}
  [[nodiscard]] Decision decide(const Question&, const ProfileBook&) const override { return best_; }
  // It is given the answer, so it has no beliefs.
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook&) const override { return {}; }

  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter&) const override {}
  void restore(StateReader&) override {}

 private:
  RunTry best_;
};

}  // namespace zeus::optimize
