#include "control/shared_settings.hpp"

#include <gtest/gtest.h>

namespace zeus::control {
namespace {

Found limit(Watts watts) {
  return {.power_limit = watts, .clocks = {}, .persistence_mode = {}};
}

Found clocks(ClockDomain domain, Megahertz clock) {
  return {.power_limit = {}, .clocks = {{domain, FoundClocks{true, {{clock, clock}}}}}, .persistence_mode = {}};
}

TEST(SharedSettings, OfEachKindTheLatestIsInForce) {
  SharedSettings settings;
  settings.set(1, limit(200_W));
  settings.set(2, limit(150_W));
  settings.set(1, clocks(ClockDomain::graphics, 900_MHz));
  EXPECT_EQ(settings.latest(), overlaid(limit(150_W), clocks(ClockDomain::graphics, 900_MHz)));
  settings.set(1, limit(180_W));
  EXPECT_EQ(settings.latest().power_limit, 180_W);
  EXPECT_EQ(settings.of(1), overlaid(limit(180_W), clocks(ClockDomain::graphics, 900_MHz)));
}

TEST(SharedSettings, WithdrawingBringsBackTheLatestOneThatIsStillThere) {
  SharedSettings settings;
  settings.set(1, limit(200_W));
  settings.set(2, limit(150_W));
  settings.set(3, limit(120_W));
  settings.withdraw(2);
  EXPECT_EQ(settings.latest(), limit(120_W));
  settings.withdraw(3);
  EXPECT_EQ(settings.latest(), limit(200_W));
  settings.withdraw(1);
  EXPECT_TRUE(settings.latest().empty());
}

TEST(SharedSettings, ClocksOfDifferentDomainsAreDifferentKinds) {
  SharedSettings settings;
  settings.set(1, clocks(ClockDomain::graphics, 900_MHz));
  settings.set(2, clocks(ClockDomain::memory, 800_MHz));
  EXPECT_EQ(settings.latest().clocks.size(), 2U);
  EXPECT_EQ(only(settings.latest(), settings.of(2)), clocks(ClockDomain::memory, 800_MHz));
}

}  // namespace
}  // namespace zeus::control
