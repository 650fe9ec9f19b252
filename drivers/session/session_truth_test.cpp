// An hour of random loads and limits: the sensors show the true values, distorted by each sensor's own rules, and every
// process sees the same.

#include "base/random.hpp"
#include "drivers/session/forked_child.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/session.hpp"
#include "physics/sensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

constexpr Seconds hour{3600.0};

// The true energy, summed only from the power between the moments at which it changes.
class Ledger {
 public:
  explicit Ledger(Instant start) : times_{start}, energies_{Joules{}} {}

  void extend(const Session& session, Instant now) {
    std::vector<Instant> ends = session.power_changes(0, times_.back(), now);
    ends.push_back(now);
    for (const Instant end : ends) {
      const Instant begin = times_.back();
      if (end <= begin) {
        continue;
      }
      const Instant middle{begin.nanoseconds + (end.nanoseconds - begin.nanoseconds) / 2};
      energies_.push_back(energies_.back() + session.gpu(0).operating_point(middle).power * (end - begin));
      times_.push_back(end);
    }
  }

  [[nodiscard]] Joules energy(Instant at) const {
    const auto after = std::ranges::upper_bound(times_, at);
    const auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - times_.begin(), 1)) - 1;
    if (i + 1 >= times_.size()) {
      return energies_.back();
    }
    return energies_[i] + (energies_[i + 1] - energies_[i]) * ((at - times_[i]) / (times_[i + 1] - times_[i]));
  }
  [[nodiscard]] Instant start() const { return times_.front(); }

 private:
  std::vector<Instant> times_;
  std::vector<Joules> energies_;
};

physics::Load random_load(Random& random, Instant now) {
  const Watts low{30.0 + 100 * random.uniform()};
  switch (random.below(4)) {
    case 0:
      return physics::Load::constant(physics::Demand::none());
    case 1:
      return physics::Load::constant(physics::Demand::of_power(low * 2.0));
    case 2:
      return physics::Load::constant(physics::Demand::of_work(random.uniform(), random.uniform(), random.uniform()));
    default:
      return physics::Load::square(physics::Demand::of_power(low), physics::Demand::of_power(low * 3.0),
                                   Seconds{0.02 + random.uniform()}, now);
  }
}

void disturb(Session& session, Random& random) {
  if (random.below(2) == 0) {
    session.set_load(0, random_load(random, session.now()), ::getpid());
    return;
  }
  const physics::PowerLimits& limits = session.model(0).limits;
  const Watts limit = limits.min + (limits.max - limits.min) * random.uniform();
  session.change_controls(0, [&](physics::Controls& controls) { controls.requested_limit = limit; });
}

class HourOfRandomLoads : public testing::TestWithParam<std::string> {};

TEST_P(HourOfRandomLoads, SensorsAgreeWithTheTrueValuesByTheirOwnRules) {
  VirtualClock clock{Instant{5'000'000'000'000}};
  Session session = Session::create(
      {.gpus = parse_gpus(GetParam()), .spec = GetParam(), .name = {}, .table = {}, .faults = {}}, clock);
  const physics::SensorModel sensors = session.model(0).sensors;
  Ledger ledger{session.now()};
  Random random{42};
  const Instant end = session.now() + hour;
  Joules last;
  while (session.now() < end) {
    disturb(session, random);
    clock.advance(Seconds{0.05 + 2.0 * random.exponential()});
    const Instant now = session.now();
    const physics::Gpu gpu = session.gpu_at(0, now);
    ledger.extend(session, now);
    ASSERT_NEAR(gpu.energy(now).value(), ledger.energy(now).value(), 1e-6 * ledger.energy(now).value() + 1e-6);
    const physics::Sensors shown{gpu};
    if (const auto counter = shown.counter(now)) {
      ASSERT_LE(now - counter->updated, sensors.counter_period);
      ASSERT_NEAR(counter->value.value(), (ledger.energy(counter->updated) * sensors.gain).value(),
                  1e-6 * counter->value.value() + 1e-3);
      ASSERT_EQ(session.counter(0, now), counter->value);
      ASSERT_GE(counter->value, last);
      last = counter->value;
    }
    for (const auto& [reading, sensor] :
         {std::pair{shown.average(now), sensors.average}, std::pair{shown.instant(now), sensors.instant}}) {
      if (reading && reading->updated - sensor.window > ledger.start()) {
        const Watts mean =
            (ledger.energy(reading->updated) - ledger.energy(reading->updated - sensor.window)) / sensor.window;
        ASSERT_LE(now - reading->updated, sensor.period);
        ASSERT_NEAR(reading->value.value(), (mean * sensors.gain + sensors.offset).value(), 0.05);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, HourOfRandomLoads,
                         testing::Values("1xP100", "1xV100", "1xRTX6000", "1xA40", "1xA100@gain=0.945", "1xH100",
                                         "1xH200"));

// A process that reads every second and one that comes after an hour read the same, to the last bit.
TEST(ProcessesOfASession, DoNotDriftApart) {
  VirtualClock clock{Instant{7'000'000'000'000}};
  Session session =
      Session::create({.gpus = parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  Session unread =
      Session::create({.gpus = parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  const physics::Load load = physics::Load::square(physics::Demand::of_power(80_W), physics::Demand::of_power(240_W),
                                                   Seconds{0.2}, session.now());
  session.set_load(0, load, ::getpid());
  unread.set_load(0, load, ::getpid());
  for (int second = 0; second < 3600; ++second) {
    clock.advance(Seconds{1.0});
    (void)session.counter(0, session.now());
  }
  const double here = session.counter(0, session.now())->value();
  EXPECT_EQ(unread.counter(0, unread.now())->value(), here);
  ForkedChild child{[&] {
    const std::optional<Session> other = Session::attach(session.reference(), clock);
    return other->counter(0, other->now())->value() == here;
  }};
  EXPECT_TRUE(child.well());
}

}  // namespace
}  // namespace zeus::drivers
