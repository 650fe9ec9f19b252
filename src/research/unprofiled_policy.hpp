// A policy without its just-in-time profiling, for the ablation of the paper's figure 13: each run of a batch size
// stays under one limit, a new one each time until all are known, and then the cheapest. One thread at a time.
#pragma once

#include "optimize/batch_size/policy.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace zeus::research {

class UnprofiledPolicy final : public optimize::Policy {
 public:
  // `inner` is a new policy for the same spec; it chooses the batch sizes.
  UnprofiledPolicy(const optimize::JobSpec& spec, std::unique_ptr<optimize::Policy> inner);
  UnprofiledPolicy(const UnprofiledPolicy& other);
  UnprofiledPolicy& operator=(const UnprofiledPolicy&) = delete;
  ~UnprofiledPolicy() override = default;

  [[nodiscard]] std::string_view name() const override { return "unprofiled"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<UnprofiledPolicy>(*this); }
  void apply(const records::JobEvent& event, const optimize::ProfileBook& profiles) override;
  [[nodiscard]] optimize::Decision decide(const optimize::Question& question,
                                          const optimize::ProfileBook& profiles) const override;
  [[nodiscard]] std::vector<std::optional<optimize::CostBelief>> beliefs(
      const optimize::ProfileBook& profiles) const override {
    return inner_->beliefs(profiles);
  }

  [[nodiscard]] int version() const override { return inner_->version(); }
  void save(StateWriter& writer) const override;
  void restore(StateReader& reader) override;

 private:
  [[nodiscard]] Watts limit_of(std::size_t arm) const;

  optimize::JobSpec spec_;
  optimize::EnergyTimeCost cost_;
  std::unique_ptr<optimize::Policy> inner_;
  std::vector<std::vector<records::LimitProfile>> known_;  // by arm
  std::map<std::uint64_t, Watts> running_;                 // by try number
};

}  // namespace zeus::research
