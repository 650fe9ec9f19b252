#include "records/pipeline_plan.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::records {
namespace {

const PipelinePlan plan{.time = 1.5_s,
                        .energy = 812.25_J,
                        .frequencies = {{{"forward", 1410_MHz}, {"backward", 1305_MHz}}, {{"load", 0_MHz}}}};
constexpr std::string_view plan_json =
    R"({"time_s":1.5,"energy_j":812.25,"frequencies":[[["forward",1410],["backward",1305]],[["load",0]]]})";

TEST(PipelinePlanJson, IsTheFormOfTheContract) {
  EXPECT_EQ(to_json(plan), plan_json);
}

TEST(PipelinePlanJson, ComesBackAsItWas) {
  EXPECT_EQ(pipeline_plan_from_json(plan_json), plan);
}

TEST(PipelinePlanJson, IsFoundInTheOutputOfTheCommand) {
  EXPECT_EQ(pipeline_plan_from_json(R"({"frontier":[],"plans":[)" + std::string{plan_json} + R"(],"solve_s":0.1})"),
            plan);
}

TEST(PipelinePlanJson, RefusesWhatIsNotAPlanAndSaysWhere) {
  const auto refusal = [](std::string_view wrong) -> std::string {
    try {
      pipeline_plan_from_json(wrong);
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
      return error.what();
    }
  };
  EXPECT_NE(refusal("").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("no \"time_s\""), std::string::npos);
  EXPECT_NE(refusal(R"({"plans":[]})").find("exactly one"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":-1,"energy_j":0,"frequencies":[[]]})").find("time_s"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1,"energy_j":"x","frequencies":[[]]})").find("energy_j"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1,"energy_j":0,"frequencies":[]})").find("each pipeline rank"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1,"energy_j":0,"frequencies":[3]})").find("rank 0"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1,"energy_j":0,"frequencies":[[],[["f"]]]})").find("instruction 0 of rank 1"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1,"energy_j":0,"frequencies":[[["f",-5]]]})").find("frequency"), std::string::npos);
  EXPECT_NE(refusal(R"({"time_s":1e999,"energy_j":0,"frequencies":[[]]})").find("not"), std::string::npos);
}

}  // namespace
}  // namespace zeus::records
