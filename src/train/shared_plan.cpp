#include "train/shared_plan.hpp"

#include "records/power_profile.hpp"

#include <zeus/error.hpp>

#include <utility>

namespace zeus::train {

namespace {

struct Decision {
  bool failed = false;
  bool another = false;
  optimize::SliceRequest request;  // if there is another one
  std::optional<records::PowerSetting> optimum;

  void joined(Joining& join) {
    join.leaders(failed);
    join.leaders(another);
    join.leaders(request.setting);
    join.leaders(request.settle);
    join.leaders(request.measure);
    join.leaders(optimum);
  }
};

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

// A failure on rank 0 (in a user's selector, say) is sent to the others in place of a decision.
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
    return "an exception of unknown type was thrown";
  }
}

void SharedPlan::decide() {
  std::string failure = ask_plan();
  Decision decision{.failed = !failure.empty(),
                    .another = next_.has_value(),
                    .request = next_.value_or(optimize::SliceRequest{}),
                    .optimum = optimum_};
  ranks_.agree(decision);
  if (decision.failed) {
    ranks_.share(failure);
    throw AgreedFailure{ErrorKind::unavailable, failure, {}};
  }
  std::string known;
  if (!decision.another) {
    known = records::to_json(records::PowerProfile{.gpu = {}, .measurements = measurements_});
    ranks_.share(known);
  }
  if (plan_) {
    return;
  }
  next_ = decision.another ? std::optional{decision.request} : std::nullopt;
  optimum_ = decision.optimum;
  if (!decision.another) {
    measurements_ = records::power_profile_from_json(known).measurements;
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
