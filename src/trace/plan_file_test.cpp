#include "trace/plan_file.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::trace {
namespace {

using records::PlannedRanks;

std::string refusal_of(const std::string& text) {
  try {
    (void)parse_plan_file("plan.py", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    return error.message();
  }
  return "taken";
}

TEST(PlanFile, APlanOfTheExistingToolIsReadAsALiteral) {
  const PlannedRanks plan = parse_plan_file("freqs_pipeline_00042.py",
                                            "# a comment\n[\n[('forward', 1380), (\"backward\", 900),],\n"
                                            "(['forward', 1200], ('backward', 0)),\n]\n# Iteration 42: cost 7\n");
  const PlannedRanks expected{{{"forward", Megahertz{1380}}, {"backward", Megahertz{900}}},
                              {{"forward", Megahertz{1200}}, {"backward", Megahertz{0}}}};
  EXPECT_EQ(plan, expected);
}

TEST(PlanFile, WhatZeusPipelineWritesIsRead) {
  const std::string one = R"({"time_s":1,"energy_j":2,"frequencies":[[["forward",1380]],[["backward",900.5]]]})";
  const PlannedRanks expected{{{"forward", Megahertz{1380}}}, {{"backward", Megahertz{900.5}}}};
  EXPECT_EQ(parse_plan_file("plan.json", one), expected);
  EXPECT_EQ(parse_plan_file("plan.json", "\n{\"plans\":[" + one + "]}"), expected);
  EXPECT_NE(refusal_of("{\"plans\":[" + one + "," + one + "]}").find("does not have exactly one plan"),
            std::string::npos);
  EXPECT_EQ(refusal_of(R"({"time_s":1,"energy_j":2,"frequencies":[[["forward",1380]],[]]})"),
            "plan.py: it plans nothing for rank 1");
}

TEST(PlanFile, ARefusalNamesFileAndLine) {
  EXPECT_EQ(refusal_of("[\n[('forward', 1380),\n('backward', fast())]]"),
            "plan.py, line 3: expected a clock in whole MHz; 0 leaves it as it is, found 'fast())]]'");
}

TEST(PlanFile, AnythingThatIsNotALiteralIsRefused) {
  for (const char* const text : {"",
                                 "#",
                                 "[]",
                                 "[[]]",
                                 "[[('forward', 900)]",
                                 "[[('forward', 900)]] + []",
                                 "[[('forward', clock) for clock in (900,)]]",
                                 "[[('forward', open('witness', 'w').close() or 900)]]",
                                 "[[('forward', 900.5)]]",
                                 "[[('forward', -1)]]",
                                 "[[('', 900)]]",
                                 "[[('forward', 900, 1)]]",
                                 "[[('forward',)]]",
                                 "[[(900, 'forward')]]",
                                 "[[['forward', 900), 1]]",
                                 "[('forward', 900)]",
                                 "[[('forward' 900)]]",
                                 "[[('for\\'ward', 900)]]",
                                 "[[('forward', 1000000)]]",
                                 "[[('forward', 99999999999999999999)]]",
                                 "[[('forward",
                                 "import os",
                                 "{",
                                 "[[(b'forward', 900)]]",
                                 "[[('forward', 1_000)]]"}) {
    EXPECT_NE(refusal_of(text), "taken") << text;
  }
}

TEST(PlanFile, DeepNestingIsRefusedAtOnce) {
  EXPECT_EQ(refusal_of(std::string(8'000'000, '[')).substr(0, 70),
            "plan.py, line 1: expected the name of an instruction, in quotes, found");
}

}  // namespace
}  // namespace zeus::trace
