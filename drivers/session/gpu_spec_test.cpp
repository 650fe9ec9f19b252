#include "drivers/session/gpu_spec.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::drivers {
namespace {

std::vector<std::string> names(std::string_view spec) {
  std::vector<std::string> result;
  for (const PlannedGpu& gpu : parse_gpus(spec)) {
    result.emplace_back(gpu.model.name());
  }
  return result;
}

TEST(GpuSpec, ListsGroupsInOrder) {
  EXPECT_THAT(names("2xV100,1xH100"), testing::ElementsAre("V100", "V100", "H100"));
  EXPECT_THAT(names("A100"), testing::ElementsAre("A100"));
  EXPECT_THAT(names("64xa40"), testing::SizeIs(64));
}

TEST(GpuSpec, OptionsBelongToTheirGroup) {
  const auto gpus = parse_gpus("1xA100@gain=0.945@part-time,1xA100");
  EXPECT_DOUBLE_EQ(gpus[0].model.sensors.gain, 0.945);
  EXPECT_TRUE(gpus[0].model.sensors.counter_part_time);
  EXPECT_DOUBLE_EQ(gpus[1].model.sensors.gain, 1.0);
  EXPECT_FALSE(gpus[1].model.sensors.counter_part_time);
}

TEST(GpuSpec, AGroupMayBeShownByTheOtherVendor) {
  const auto gpus = parse_gpus("1xA100@amd,1xA100");
  EXPECT_EQ(gpus[0].vendor, Vendor::amd);
  EXPECT_EQ(gpus[1].vendor, Vendor::nvidia);
}

TEST(GpuSpec, AnOperatorMayHaveSetALimitAndSettingMayBeLeftToAdministrators) {
  const auto gpus = parse_gpus("1xA100@root-only@limit=220.5,1xA100");
  EXPECT_TRUE(gpus[0].root_only);
  EXPECT_EQ(gpus[0].limit, Watts{220.5});
  EXPECT_FALSE(gpus[1].root_only);
  EXPECT_EQ(gpus[1].limit, std::nullopt);
}

class RefusedSpec : public testing::TestWithParam<std::string> {};

TEST_P(RefusedSpec, IsAnErrorThatSaysWhatToDo) {
  try {
    (void)parse_gpus(GetParam());
    FAIL() << GetParam();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_FALSE(error.advice().empty()) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RefusedSpec,
                         testing::Values("", ",", "4x", "0xA100", "1000000xA100", "99999999999999999999xA100",
                                         "65xA100", "40xA100,40xV100", "A100,", ",A100", "B9000", "-1xA100", "1xA100@",
                                         "1xA100@gain", "1xA100@gain=", "1xA100@gain=nan", "1xA100@gain=0",
                                         "1xA100@gain=1e9", "1xA100@gain=1x", "1xA100@loud", "1xA100@@gain=1",
                                         "1 xA100", "@gain=1", "1xA100@limit", "1xA100@limit=", "1xA100@limit=220W",
                                         "1xA100@limit=1", "1xA100@limit=9000", "1xA100@limit=nan", "1xA100@rootonly"));

}  // namespace
}  // namespace zeus::drivers
