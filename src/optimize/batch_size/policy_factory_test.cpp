// Policies by name, and the two policies without a test file of their own: `default` and `oracle`.

#include "optimize/batch_size/policy_factory.hpp"

#include "optimize/batch_size/default_policy.hpp"
#include "optimize/batch_size/oracle_policy.hpp"
#include "tests/support/job_events.hpp"
#include "tests/support/restored_policy.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::optimize {
namespace {

using test::ended;
using test::energy_job;
using test::submitted;

TEST(PolicyFactory, MakesEachPolicyByItsName) {
  const JobSpec spec = energy_job({8, 16}, 16);
  EXPECT_TRUE(
      std::ranges::equal(policy_names(), std::array<std::string_view, 4>{"lookahead", "zeus", "grid", "default"}));
  for (const std::string_view name : policy_names()) {
    const std::unique_ptr<Policy> policy = make_policy(name, spec);
    EXPECT_EQ(policy->name(), name);
    EXPECT_EQ(policy->clone()->name(), name);
    EXPECT_GE(policy->version(), 1);
  }
  EXPECT_EQ(best_policy, "lookahead");
}

TEST(PolicyFactory, RefusesAnUnknownNameAndListsTheValidOnes) {
  try {
    make_policy("oracle", energy_job({8, 16}, 16));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string{error.what()}.find("oracle"), std::string::npos);
    EXPECT_NE(error.advice().find("lookahead, zeus, grid, default"), std::string::npos);
  }
}

TEST(DefaultPolicy, AlwaysRunsTheDefaultAtTheLargestLimit) {
  const JobSpec spec = energy_job({8, 16, 32}, 16);
  const ProfileBook profiles{spec};
  DefaultPolicy policy{spec};
  policy.apply(ended(0, 0, 16, 50, records::TryOutcome::stopped), profiles);
  const auto decide = [&] { return std::get<RunTry>(policy.decide({.spent = {}, .best = {}}, profiles)); };
  EXPECT_EQ(decide().arm, 1U);
  EXPECT_EQ(decide().limit, 200_W);
  EXPECT_EQ(decide().purpose, records::TryPurpose::exploit);
  EXPECT_FALSE(decide().profile || decide().max_epochs);
  policy.apply(records::DeviceChanged{.model = "same limits", .max_power = 300_W}, profiles);
  EXPECT_EQ(decide().limit, 200_W);
  policy.apply(records::DeviceChanged{.model = "others", .max_power = 300_W, .power_limits = {250_W, 300_W}}, profiles);
  EXPECT_EQ(decide().limit, 300_W);
  EXPECT_EQ(policy.beliefs(profiles).size(), 3U);
  EXPECT_FALSE(policy.beliefs(profiles)[1]);
}

TEST(DefaultPolicy, ContinuesFromItsSavedState) {
  const JobSpec spec = energy_job({8, 16}, 16);
  test::expect_goes_on_from_its_saved_state(
      spec, [&spec] { return std::make_unique<DefaultPolicy>(spec); },
      {submitted(0, 0, 16), records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {250_W}},
       ended(0, 0, 16, 5)});
}

TEST(OraclePolicy, AlwaysRunsTheConfigurationThatItWasGiven) {
  const JobSpec spec = energy_job({8, 16}, 16);
  const ProfileBook profiles{spec};
  OraclePolicy policy{0, 150_W};
  policy.apply(ended(0, 0, 16, 50), profiles);
  const RunTry run = std::get<RunTry>(policy.decide({.spent = {}, .best = {}}, profiles));
  EXPECT_EQ(run.arm, 0U);
  EXPECT_EQ(run.limit, 150_W);
  EXPECT_TRUE(policy.beliefs(profiles).empty());
  EXPECT_EQ(policy.clone()->name(), "oracle");
  EXPECT_EQ(test::saved(policy), "") << "it learns nothing";
}

}  // namespace
}  // namespace zeus::optimize
