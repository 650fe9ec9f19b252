#include "trace/instruction_profile.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::trace {
namespace {

std::string profile_refusal(std::string_view text) {
  try {
    parse_instruction_profile("profile.csv", text);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    EXPECT_FALSE(error.advice().empty());
    return error.message();
  }
}

TEST(InstructionProfile, ReadsTheColumnsOfTheExistingTool) {
  const auto profile = parse_instruction_profile(
      "p.csv", "stage,instruction,frequency,time,energy\n0,forward,1410,0.04,10.5\n1,Backward,1395,0.08,20\n");
  const records::InstructionProfile expected{
      {0, "forward", 1410_MHz, 40_ms, 10.5_J, std::nullopt},
      {1, "backward", 1395_MHz, 80_ms, 20_J, std::nullopt},
  };
  EXPECT_EQ(profile, expected);
}

TEST(InstructionProfile, ReadsTheRanksThatTheProfilingServerWrites) {
  const auto profile = parse_instruction_profile(
      "p.csv",
      "rank,dp_rank,pp_rank,tp_rank,stage,instruction,frequency,time,energy\n3,0,1,1,1,forward,1410,0.04,10.5\n");
  ASSERT_EQ(profile.size(), 1u);
  EXPECT_EQ(profile[0].rank, 3u);
}

TEST(InstructionProfile, ComesBackAsItWasWritten) {
  for (const char* text : {"stage,instruction,frequency,time,energy\n0,\"forward\",1410,0.04,10.5\n",
                           "rank,stage,instruction,frequency,time,energy\n2,0,\"forward\",1410,0.04,10.5\n"}) {
    EXPECT_EQ(to_csv(parse_instruction_profile("p.csv", text)), text);
  }
}

TEST(InstructionProfile, ErrorsNameFileAndLine) {
  EXPECT_EQ(profile_refusal("stage,instruction,frequency,time\n"), "profile.csv:1: column 'energy' is missing");
  EXPECT_EQ(
      profile_refusal("stage,instruction,frequency,time,energy\n0,forward,1410,0.04,10\n0,forward,1410,soon,10\n"),
      "profile.csv:3: time is 'soon', not a finite number");
  EXPECT_EQ(profile_refusal("stage,instruction,frequency,time,energy\n0,forward,1410,nan,10\n"),
            "profile.csv:2: time is 'nan', not a finite number");
  EXPECT_TRUE(
      profile_refusal("stage,instruction,frequency,time,energy\n0,forward,1410,-1,10\n").starts_with("profile.csv:2:"));
  EXPECT_TRUE(profile_refusal("stage,instruction,frequency,time,energy\n0,,1410,1,10\n").starts_with("profile.csv:2:"));
  EXPECT_TRUE(
      profile_refusal("stage,instruction,frequency,time,energy\n0.5,f,1410,1,10\n").starts_with("profile.csv:2:"));
  EXPECT_TRUE(profile_refusal("stage,instruction,frequency,time,energy\n").find("no measurement") != std::string::npos);
  EXPECT_TRUE(profile_refusal("").starts_with("profile.csv:1:"));
}

}  // namespace
}  // namespace zeus::trace
