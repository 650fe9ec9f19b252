#include "trial/job_gpus.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::trial {

namespace {

using namespace literals;
using testing::ElementsAre;

JobGpu v100(std::vector<LimitRange> allowed = {}, Watts current = 250_W) {
  return {.model = "V100", .minimum = 100_W, .maximum = 250_W, .current = current, .allowed = std::move(allowed)};
}

TEST(JobGpus, CanHaveEachLimitThatIsWantedOnceAscending) {
  EXPECT_THAT(possible_limits({v100()}, {175_W, 100_W, 175_W}), ElementsAre(100_W, 175_W));
}

TEST(JobGpus, CanHaveLimitsInStepsFromTheHighestThatAllOfThemHave) {
  JobGpu smaller = v100();
  smaller.maximum = 180_W;
  EXPECT_THAT(possible_limits({v100(), smaller}, {}), ElementsAre(105_W, 130_W, 155_W, 180_W));
}

TEST(JobGpus, RefuseALimitThatOneOfThemCannotHave) {
  JobGpu smaller = v100();
  smaller.maximum = 180_W;
  try {
    (void)possible_limits({v100(), smaller}, {200_W});
    FAIL() << "200 W is above the range of one GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr("200 W cannot be set"));
  }
}

TEST(JobGpus, TryThoseLimitsThatThePoliciesOfAllAllow) {
  const std::vector<JobGpu> gpus{v100({{120_W, 180_W}}), v100({{100_W, 130_W}, {150_W, 250_W}})};
  EXPECT_THAT(allowed_limits(gpus, {100_W, 125_W, 140_W, 175_W, 200_W}), ElementsAre(125_W, 175_W));
}

TEST(JobGpus, AskForPermissionWithTheAllowedLimitThatIsNearestToThePresentOne) {
  EXPECT_EQ(nearest_allowed(v100({}, 200_W)), 200_W);
  EXPECT_EQ(nearest_allowed(v100({{120_W, 180_W}}, 200_W)), 180_W);
  EXPECT_EQ(nearest_allowed(v100({{100_W, 120_W}, {180_W, 250_W}}, 130_W)), 120_W);
  EXPECT_EQ(nearest_allowed(v100({{120_W, 180_W}}, 150_W)), 150_W);
}

TEST(JobGpus, AreADeviceWithTheLimitsThatPolicyAllows) {
  const records::JobDevice device = job_device({v100({{120_W, 180_W}}, 200_W)}, {100_W, 175_W, 250_W}, true);
  EXPECT_THAT(device.power_limits, ElementsAre(175_W));
  EXPECT_EQ(device.max_power, 250_W);
  EXPECT_EQ(device.gpus, 1);
}

TEST(JobGpus, AreTheDeviceThatTheJobKnowsWhereItIsTheSameWithLimitsThatTheyCanHave) {
  const records::JobDevice here = job_device({v100()}, {100_W, 175_W, 250_W}, true);
  const records::JobDevice known = job_device({v100({{120_W, 180_W}})}, {100_W, 175_W, 250_W}, true);
  EXPECT_EQ(device_as_known(here, known), known);
  records::JobDevice other = known;
  other.power_limits = {150_W};
  EXPECT_EQ(device_as_known(here, other), std::nullopt);
  other = known;
  other.gpus = 2;
  EXPECT_EQ(device_as_known(here, other), std::nullopt);
}

TEST(JobGpus, AreADeviceWithTheLimitInForceWhereNoneCanBeSet) {
  const records::JobDevice device = job_device({v100({}, 200_W), v100({}, 150_W)}, {}, false);
  EXPECT_THAT(device.power_limits, ElementsAre(150_W));
  EXPECT_EQ(device.max_power, 500_W);
}

TEST(JobGpus, AreNamedByEachOfTheirModels) {
  JobGpu other = v100();
  other.model = "A40";
  EXPECT_EQ(job_device({v100(), other, v100()}, {}, true).model, "V100 + A40");
}

TEST(JobGpus, SayHowManyLimitsAPolicyLeaves) {
  EXPECT_EQ(policy_text({125_W, 150_W}, 9), "the node's policy allows 2 of 9 power limits: 125, 150 W");
}

TEST(JobGpus, HaveALimitInCommonOnlyIfEachIsKnownAndTheSame) {
  EXPECT_EQ(common_limit({200_W, 200_W}), 200_W);
  EXPECT_EQ(common_limit({200_W, 150_W}), std::nullopt);
  EXPECT_EQ(common_limit({200_W, std::nullopt}), std::nullopt);
}

}  // namespace

}  // namespace zeus::trial
