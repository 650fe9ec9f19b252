#include "daemon/policy.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::daemon {
namespace {

using ::testing::HasSubstr;

NameLookup names() {
  return {.user = [](const std::string& name) -> std::optional<std::uint32_t> {
            return name == "ann" ? std::optional<std::uint32_t>{1000} : std::nullopt;
          },
          .group = [](const std::string& name) -> std::optional<std::uint32_t> {
            return name == "gpu" ? std::optional<std::uint32_t>{44} : std::nullopt;
          }};
}

Policy policy(const std::string& text, const std::string& more = {}) {
  std::vector<PolicyText> files{{"policy.toml", text}};
  if (!more.empty()) {
    files.push_back({"policy.d/job.toml", more});
  }
  return policy_from(files, names());
}

std::string refusal_of(const std::string& text, const std::string& more = {}) {
  try {
    policy(text, more);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Asker user_ann{.user = 1000, .groups = {100}, .token = {}};
const Asker user_bob{.user = 1001, .groups = {44}, .token = {}};
const Asker robot{.user = {}, .groups = {}, .token = "ci-nightly"};

AskedFor limit_of(Watts limit, int gpu = 0) {
  return {.action = Action::set_power_limit, .gpu = GpuAsked{gpu, gpu == 0 ? "GPU-a" : "GPU-b"}, .power_limit = limit};
}

TEST(Policy, WithoutAFileEverybodyMayReadAndSet) {
  const Policy open = built_in_policy();
  EXPECT_TRUE(decide(open, user_bob, limit_of(200_W)).allowed);
  EXPECT_TRUE(decide(open, robot, {.action = Action::read_cpu}).allowed);
}

TEST(Policy, WhatNoRuleAllowsIsRefused) {
  const Policy empty = policy("");
  EXPECT_FALSE(decide(empty, user_ann, limit_of(200_W)).allowed);
  EXPECT_FALSE(decide(empty, user_ann, {.action = Action::read_cpu}).allowed);
}

TEST(Policy, ARuleSpeaksOfUsersGroupsTokensAndGpus) {
  const Policy some = policy(R"(
[[rule]]
who = ["user:ann", "group:gpu", "token:ci-*"]
gpus = [1, "GPU-c"]
may = ["set_power_limit"]
)");
  for (const Asker& asker : {user_ann, user_bob, robot}) {
    EXPECT_TRUE(decide(some, asker, limit_of(200_W, 1)).allowed);
    EXPECT_FALSE(decide(some, asker, limit_of(200_W, 0)).allowed);
  }
  EXPECT_FALSE(decide(some, {.user = 1002, .groups = {45}, .token = "ci"}, limit_of(200_W, 1)).allowed);
  EXPECT_FALSE(decide(some, user_ann, {.action = Action::read, .gpu = GpuAsked{1, "GPU-b"}}).allowed);
}

TEST(Policy, BoundsAreThoseOfTheRuleThatAllows) {
  const Policy two = policy(R"(
[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["set_power_limit"]
power_limit = {minimum_w = 200, maximum_w = 300}
longest_lease_s = 60
changes_per_second = 1

[[rule]]
who = ["user:ann"]
gpus = ["all"]
may = ["set_power_limit"]
power_limit = {minimum_w = 100, maximum_w = 250}
longest_lease_s = 600
)");
  EXPECT_FALSE(decide(two, user_bob, limit_of(150_W)).allowed);
  EXPECT_THAT(decide(two, user_bob, limit_of(150_W)).why, HasSubstr("outside the allowed range of 200 to 300 W"));
  EXPECT_THAT(decide(two, user_ann, limit_of(350_W)).why,
              ::testing::AllOf(HasSubstr("outside the allowed range of 200 to 300 W"),
                               HasSubstr("outside the allowed range of 100 to 250 W")));
  EXPECT_TRUE(decide(two, user_ann, limit_of(150_W)).allowed);
  EXPECT_TRUE(decide(two, user_ann, limit_of(290_W)).allowed);
  const Verdict both = decide(two, user_ann, limit_of(220_W));
  EXPECT_EQ(both.longest_lease, Seconds{600});
  EXPECT_EQ(both.changes_per_second, std::nullopt) << "one of the two sets no bound";
  EXPECT_EQ(decide(two, user_ann, limit_of(290_W)).longest_lease, Seconds{60});
}

TEST(Policy, ClocksHaveBoundsOfTheirDomain) {
  const Policy clocks = policy(R"(
[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["lock_clocks"]
graphics_clocks = {minimum_mhz = 500, maximum_mhz = 1000}
)");
  AskedFor asked{.action = Action::lock_clocks, .gpu = GpuAsked{0, "GPU-a"}};
  EXPECT_TRUE(decide(clocks, user_ann, asked).allowed) << "clocks may be unlocked";
  asked.domain = ClockDomain::sm;
  asked.clocks = ClockRange{600_MHz, 1100_MHz};
  EXPECT_FALSE(decide(clocks, user_ann, asked).allowed);
  asked.domain = ClockDomain::memory;
  EXPECT_TRUE(decide(clocks, user_ann, asked).allowed);
}

TEST(Policy, ErrorsNameFileLineAndColumn) {
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"user:nobody-here\"]\ngpus = [\"all\"]\nmay = [\"read\"]\n"),
              HasSubstr("policy.toml:2:8: there is no user 'nobody-here'"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"ann\"]\ngpus = [\"all\"]\nmay = [\"read\"]\n"),
              HasSubstr("policy.toml:2:8"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"user:\"]\ngpus = [\"all\"]\nmay = [\"read\"]\n"),
              HasSubstr("names no user"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"everyone\"]\ngpus = [\"all\"]\nmay = [\"reed\"]\n"),
              HasSubstr("policy.toml:4:8"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"everyone\"]\ngpus = [\"some\"]\nmay = [\"read\"]\n"),
              HasSubstr("policy.toml:3:9"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"everyone\"]\nmay = [\"read\"]\n"), HasSubstr("gpus"));
  EXPECT_THAT(refusal_of("implict = \"keep\"\n"), HasSubstr("implicit"));
  EXPECT_THAT(refusal_of("[[rule]]\nwho = [\"everyone\"]\ngpus = [\"all\"]\nmay = [\"set_power_limit\"]\n"
                         "power_limit = {minimum_w = 300, maximum_w = 200}\n"),
              HasSubstr("wrong way round"));
}

TEST(Policy, AdditionalFilesOnlyAddRules) {
  const std::string rule = "[[rule]]\nwho = [\"user:ann\"]\ngpus = [0]\nmay = [\"set_power_limit\"]\n";
  const Policy both = policy("implicit = \"keep\"\n[waiting]\nlongest_s = 5\nmost = 3\n", rule);
  EXPECT_TRUE(decide(both, user_ann, limit_of(200_W)).allowed);
  EXPECT_EQ(both.implicit, ImplicitLease::keep);
  EXPECT_EQ(both.longest_wait, Seconds{5});
  EXPECT_EQ(both.most_waiting, 3U);
  EXPECT_THAT(refusal_of("", "implicit = \"keep\"\n"), HasSubstr("policy.d/job.toml:1:1"));
}

TEST(Policy, TheShippedPolicyEqualsTheBuiltInOne) {
  const std::optional<std::string> text = FileTree{ZEUS_SOURCE_FOLDER}.read("packaging/systemd/policy.toml");
  const Policy shipped = policy(text.value());
  for (const auto& action : names_of(Action{})) {
    EXPECT_TRUE(decide(shipped, user_bob, {.action = action.value, .gpu = GpuAsked{3, "GPU-d"}}).allowed)
        << action.name;
  }
  EXPECT_TRUE(decide(shipped, robot, limit_of(10_W)).allowed);
  EXPECT_EQ(shipped.implicit, built_in_policy().implicit);
  EXPECT_EQ(shipped.longest_wait, built_in_policy().longest_wait);
  EXPECT_EQ(shipped.most_waiting, built_in_policy().most_waiting);
}

TEST(Policy, TheBoundsOfAllRulesAboutAnActionAreListed) {
  const std::string head =
      "[[rule]]\nwho = [\"everyone\"]\ngpus = [\"all\"]\nmay = [\"set_power_limit\", \"lock_clocks\"]\n";
  const std::string bounded = head +
                              "power_limit = {minimum_w = 100, maximum_w = 250}\n"
                              "graphics_clocks = {minimum_mhz = 210, maximum_mhz = 1410}\n";
  const AskedFor limit{.action = Action::set_power_limit, .gpu = GpuAsked{0, "GPU-a"}};
  const AskedFor clocks{.action = Action::lock_clocks, .gpu = GpuAsked{0, "GPU-a"}};
  EXPECT_THAT(bounds_of(policy(bounded), user_bob, limit), testing::ElementsAre("100 to 250 W"));
  EXPECT_THAT(bounds_of(policy(bounded), user_bob, clocks), testing::ElementsAre("graphics 210 to 1410 MHz"));
  EXPECT_THAT(bounds_of(policy(bounded + head + "power_limit = {minimum_w = 300, maximum_w = 350}\n"), user_bob, limit),
              testing::ElementsAre("100 to 250 W", "300 to 350 W"));
  EXPECT_THAT(bounds_of(policy(bounded + head), user_bob, limit), testing::IsEmpty()) << "the second rule sets none";
}

TEST(Policy, TheAllowedPowerLimitsAreTheRangesOfAllRules) {
  const std::string head = "[[rule]]\nwho = [\"user:ann\"]\ngpus = [0]\nmay = [\"set_power_limit\"]\n";
  const std::string low = head + "power_limit = {minimum_w = 100, maximum_w = 150}\n";
  const std::string high = head + "power_limit = {minimum_w = 200, maximum_w = 250}\n";
  const auto allowed = [](const std::string& text, const Asker& asker, int gpu) {
    return allowed_power_limits(policy(text), asker, {gpu, "GPU-a"});
  };
  using device::WattRange;
  EXPECT_THAT(allowed(low + high, user_ann, 0), testing::ElementsAre(WattRange{100_W, 150_W}, WattRange{200_W, 250_W}));
  EXPECT_THAT(allowed(low + head, user_ann, 0), testing::IsEmpty()) << "the second rule sets no bounds";
  EXPECT_THAT(allowed(low, user_ann, 1), testing::IsEmpty()) << "another GPU";
  EXPECT_THAT(allowed(low, robot, 0), testing::IsEmpty()) << "another client";
}

TEST(Policy, ATokensNameIsTakenWholeUnlessItEndsInAStar) {
  const Policy one = policy("[[rule]]\nwho = [\"token:ci\"]\ngpus = [\"all\"]\nmay = [\"read\"]\n");
  const AskedFor read{.action = Action::read, .gpu = GpuAsked{0, "GPU-a"}};
  EXPECT_TRUE(decide(one, {.user = {}, .groups = {}, .token = "ci"}, read).allowed);
  EXPECT_FALSE(decide(one, robot, read).allowed);
}

}  // namespace
}  // namespace zeus::daemon
