#include "drivers/session/load_plan.hpp"

#include "physics/controls.hpp"
#include "physics/operating_point.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <map>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

// The energy and the time of a piece of work, and half of each as the cost, all relative to the highest limit.
struct OfLimit {
  double energy = 0.0;
  double time = 0.0;
  double cost = 0.0;
};

std::map<Watts, OfLimit> of_limits(const physics::GpuModel& model, const physics::Demand& demand) {
  const auto point_under = [&](Watts limit) {
    physics::Controls controls = physics::Controls::defaults(model);
    controls.requested_limit = limit;
    return physics::settle(model, controls, demand, model.power.reference);
  };
  const Watts highest = model.limits.max;
  const physics::OperatingPoint free = point_under(highest);
  std::map<Watts, OfLimit> all;
  for (Watts limit = model.limits.min; limit <= highest; limit += 25_W) {
    const physics::OperatingPoint point = point_under(limit);
    const double time = free.speed / point.speed;
    all[limit] = {.energy = point.power / free.power * time,
                  .time = time,
                  .cost = (point.power + highest) / (free.power + highest) * time};
  }
  return all;
}

TEST(LoadPlan, FollowsWorkOfAnyCharacter) {
  EXPECT_TRUE((LoadPlan{"follow:work:0.9,0.5,0.25", FileTree{}}.follows()));
  EXPECT_TRUE((LoadPlan{"follow:cifar100", FileTree{}}.follows()));
  EXPECT_FALSE((LoadPlan{"work:0.9,0.5,0.25", FileTree{}}.follows()));
  EXPECT_THROW((void)LoadPlan::without_file("follow:work:0.9,0.5,0.25"), Error);
  const physics::GpuModel& model = physics::preset("V100");
  EXPECT_EQ((LoadPlan{"follow:work:0.9,0.5,0.25", FileTree{}}.load(model, {})),
            (LoadPlan{"work:0.9,0.5,0.25", FileTree{}}.load(model, {})));
}

// README.md and docs/start/train.md say so.
TEST(LoadPlan, TheQuickStartsLoadHasAClearOptimum) {
  const physics::GpuModel& model = physics::preset("V100");
  const LoadPlan plan{"follow:work:1,1,0.85", FileTree{}};
  const std::map<Watts, OfLimit> all = of_limits(model, plan.load(model, {}).first);
  const OfLimit best = all.at(125_W);
  EXPECT_NEAR(best.energy, 0.55, 0.01);
  EXPECT_NEAR(best.time, 1.10, 0.01);
  EXPECT_LT(best.cost, 0.85);
  for (const auto& [limit, one] : all) {
    if (limit != 125_W) {
      EXPECT_GT(one.cost, best.cost + 0.02) << limit.value();
    }
    if (limit <= 175_W) {
      EXPECT_LT(one.energy, 0.75) << limit.value();
    }
  }
}

}  // namespace
}  // namespace zeus::drivers
