// A plan for several ranks that all ask for the same slices: rank 0 decides and tells the others. Every rank runs its
// own optimize::Profiler over one of these. As all see the same steps and epochs, all do the same at the same step.
// Each decision is an exchange among the ranks. A failure, here or on rank 0, is an AgreedFailure (see ranks.hpp). One
// thread.
#pragma once

#include "optimize/power_limit/power_limit_plan.hpp"
#include "train/ranks.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::train {

class SharedPlan final : public optimize::PowerLimitPlan {
 public:
  // `plan` is rank 0's; it is null in the others. `ranks` outlives this object.
  SharedPlan(std::unique_ptr<optimize::PowerLimitPlan> plan, Ranks& ranks);

  [[nodiscard]] std::optional<optimize::SliceRequest> next() override;
  void measured(const optimize::Slice& slice) override;
  void refused(const records::PowerSetting& setting) override;
  // Rank 0's choice, and what it had measured, at its last decision.
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const override { return optimum_; }
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const override { return measurements_; }

 private:
  [[nodiscard]] std::string ask_plan();
  void decide();

  std::unique_ptr<optimize::PowerLimitPlan> plan_;
  Ranks& ranks_;
  bool decided_ = false;
  std::optional<optimize::SliceRequest> next_;
  std::optional<records::PowerSetting> optimum_;
  std::vector<records::PowerMeasurement> measurements_;
};

}  // namespace zeus::train
