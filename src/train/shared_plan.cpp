#include "train/shared_plan.hpp"

#include "records/power_profile.hpp"

#include <zeus/error.hpp>

#include <utility>

namespace zeus::train {

namespace {

// A setting as two numbers; no clock is 0.
void append(std::vector<double>& values, const records::PowerSetting& setting) {
  values.push_back(setting.limit.value());
  values.push_back(setting.clock.value_or(Megahertz{0}).value());
}

records::PowerSetting setting_at(const std::vector<double>& values, std::size_t at) {
  records::PowerSetting setting{.limit = Watts{values.at(at)}, .clock = std::nullopt};
  if (values.at(at + 1) > 0) {
    setting.clock = Megahertz{values[at + 1]};
  }
  return setting;
}

}  // namespace

SharedPlan::SharedPlan(std::unique_ptr<optimize::PowerLimitPlan> plan, Ranks& ranks)
    : plan_{std::move(plan)}, ranks_{ranks} {
}

std::optional<optimize::SliceRequest> SharedPlan::next() {
  if (!decided_) {
    decide();
    decided_ = true;
  }
  return next_;
}

// What fails on rank 0 (a selector of the user's, say) is told to the others instead of a decision.
std::string SharedPlan::ask_plan() {
  if (!plan_) {
    return {};
  }
  try {
    next_ = plan_->next();
    optimum_ = plan_->optimum();
    measurements_ = plan_->measurements();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no exception of C++ was thrown";
  }
}

void SharedPlan::decide() {
  std::string failure = ask_plan();
  ranks_.share(failure);
  if (!failure.empty()) {
    throw AgreedFailure{ErrorKind::unavailable, failure, {}};
  }
  const optimize::SliceRequest request = next_.value_or(optimize::SliceRequest{});
  std::vector<double> decision{next_ ? 1.0 : 0.0, optimum_ ? 1.0 : 0.0, static_cast<double>(request.settle),
                               static_cast<double>(request.measure)};
  append(decision, request.setting);
  append(decision, optimum_.value_or(records::PowerSetting{}));
  const std::size_t length = decision.size();
  ranks_.share(decision);
  if (decision.size() != length) {
    throw AgreedFailure{ErrorKind::corrupt_data, "rank 0 sent something else than a decision",
                        "let all ranks report the same steps and epochs in the same order"};
  }
  const bool another = decision[0] > 0;
  std::string known;
  if (!another) {
    known = records::to_json(records::PowerProfile{.gpu = {}, .measurements = measurements_});
    ranks_.share(known);
  }
  if (plan_) {
    return;
  }
  next_.reset();
  optimum_.reset();
  if (another) {
    next_ = optimize::SliceRequest{.setting = setting_at(decision, 4),
                                   .settle = static_cast<std::uint32_t>(decision[2]),
                                   .measure = static_cast<std::uint32_t>(decision[3])};
  } else {
    measurements_ = records::power_profile_from_json(known).measurements;
  }
  if (decision[1] > 0) {
    optimum_ = setting_at(decision, 6);
  }
}

void SharedPlan::measured(const optimize::Slice& slice) {
  decided_ = false;
  if (plan_) {
    plan_->measured(slice);
  }
}

void SharedPlan::refused(const records::PowerSetting& setting) {
  decided_ = false;
  if (plan_) {
    plan_->refused(setting);
  }
}

}  // namespace zeus::train
