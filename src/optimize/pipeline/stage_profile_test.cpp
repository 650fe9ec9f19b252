#include "optimize/pipeline/stage_profile.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::optimize::pipeline {
namespace {

using records::FrequencyOption;
using records::InstructionProfile;

TEST(StageProfile, RepetitionsAreAveraged) {
  const InstructionProfile rows{{0, "forward", 1410_MHz, 2_s, 10_J, std::nullopt},
                                {0, "forward", 1200_MHz, 5_s, 9_J, std::nullopt},
                                {0, "forward", 1410_MHz, 4_s, 14_J, std::nullopt}};
  const StageProfiles result = stage_profiles_of(rows, 70_W);
  ASSERT_EQ(result.profiles.size(), 1u);
  EXPECT_EQ(result.copies, 1u);
  EXPECT_EQ(result.profiles[0].profile.name, "forward");
  EXPECT_EQ(result.profiles[0].profile.options,
            (std::vector<FrequencyOption>{{1410_MHz, 3_s, 12_J}, {1200_MHz, 5_s, 9_J}}));
}

TEST(StageProfile, CopiesWaitForTheSlowestOfThem) {
  const InstructionProfile rows{{0, "forward", 1410_MHz, 2_s, 10_J, 0}, {0, "forward", 1410_MHz, 3_s, 12_J, 1}};
  const StageProfiles result = stage_profiles_of(rows, 5_W);
  EXPECT_EQ(result.copies, 2u);
  // The first one blocks for one second: 10 + 5 and 12 joules.
  EXPECT_EQ(result.profiles[0].profile.options, (std::vector<FrequencyOption>{{1410_MHz, 3_s, 13.5_J}}));
}

TEST(StageProfile, TheErrorForAMissingRankNamesIt) {
  const InstructionProfile rows{{0, "forward", 1410_MHz, 2_s, 10_J, 0},
                                {0, "forward", 1410_MHz, 3_s, 12_J, 1},
                                {1, "forward", 1410_MHz, 3_s, 12_J, 2}};
  try {
    stage_profiles_of(rows, 5_W);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("'forward' of stage 1"), std::string::npos);
  }
}

TEST(StageProfile, WithoutRowsItHasOneCopyAndNoProfiles) {
  const StageProfiles result = stage_profiles_of({}, 5_W);
  EXPECT_EQ(result.copies, 1u);
  EXPECT_TRUE(result.profiles.empty());
}

}  // namespace
}  // namespace zeus::optimize::pipeline
