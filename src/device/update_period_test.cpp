#include "device/update_period.hpp"

#include "tests/support/fake_gpu.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus::device {
namespace {

// A counter at 100 W that shows a new value every `period`.
std::unique_ptr<test::FakeGpu> ticking(const Clock& clock, double period) {
  auto gpu = std::make_unique<test::FakeGpu>(GpuIdentity{});
  gpu->its_energy = [&clock, period]() -> Reading<Stamped<Joules>> {
    const double seconds = static_cast<double>(clock.now().nanoseconds) * 1e-9;
    return Stamped<Joules>{Joules{100 * period * std::floor(seconds / period + 1e-9)}, clock.now(), Seconds{0}};
  };
  return gpu;
}

TEST(UpdatePeriod, IsFoundByWatchingAllCountersAtOnce) {
  VirtualClock clock;
  const auto fast = ticking(clock, 0.020);
  const auto slow = ticking(clock, 0.100);
  const std::vector<const Gpu*> gpus{fast.get(), slow.get()};
  const std::vector<Reading<Seconds>> periods = watch_update_periods(gpus, clock);
  ASSERT_EQ(periods.size(), 2U);
  EXPECT_NEAR(periods[0]->value(), 0.020, 0.0011);
  EXPECT_NEAR(periods[1]->value(), 0.100, 0.0011);
  EXPECT_LT(clock.now(), (Instant{} + 1_s)) << "it stops when it knows";
}

TEST(UpdatePeriod, ReportsACounterThatStandsStillAndStopsWaiting) {
  VirtualClock clock;
  const auto still = ticking(clock, 1e9);
  const std::vector<const Gpu*> gpus{still.get()};
  const std::vector<Reading<Seconds>> periods = watch_update_periods(gpus, clock, 2_s);
  EXPECT_EQ(periods.at(0).failure().reason, Reason::unreliable);
  EXPECT_GE(clock.now(), (Instant{} + 2_s));
  EXPECT_LT(clock.now(), (Instant{} + 2.1_s));
}

TEST(UpdatePeriod, AGpuWithoutACounterReportsWhyAndDelaysNoOther) {
  VirtualClock clock;
  const test::FakeGpu none{GpuIdentity{}};
  const std::vector<const Gpu*> gpus{&none};
  EXPECT_EQ(watch_update_periods(gpus, clock).at(0).failure().reason, Reason::unsupported);
  EXPECT_LT(clock.now(), (Instant{} + 0.1_s));
  EXPECT_TRUE(watch_update_periods({}, clock).empty());
}

}  // namespace
}  // namespace zeus::device
