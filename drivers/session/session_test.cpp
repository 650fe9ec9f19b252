#include "drivers/session/session.hpp"

#include "drivers/session/forked_child.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "physics/sensors.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

constexpr Instant beginning{1'000'000'000'000};

class SessionTest : public testing::Test {
 protected:
  Session make(const std::string& spec = "1xV100", std::vector<Fault> faults = {}) {
    return Session::create(
        {.gpus = parse_gpus(spec), .spec = spec, .name = {}, .table = {}, .faults = std::move(faults)}, clock_);
  }
  void pass(Seconds time) { clock_.advance(time); }

  VirtualClock clock_{beginning, WallTime{1'700'000'000'000'000}};
};

physics::Load steady(Watts power) {
  return physics::Load::constant(physics::Demand::of_power(power));
}

TEST_F(SessionTest, ALimitSetByOneProcessHoldsForAll) {
  Session session = make();
  session.set_load(0, steady(240_W), ::getpid());
  const std::string reference = session.reference();
  ForkedChild child{[&] {
    std::optional<Session> other = Session::attach(reference, clock_);
    other->change_controls(0, [](physics::Controls& controls) { controls.requested_limit = 150_W; });
    return true;
  }};
  ASSERT_TRUE(child.well());
  pass(1_s);
  const physics::OperatingPoint point = session.gpu_at(0, session.now()).operating_point(session.now());
  EXPECT_NEAR(point.power.value(), 150.0, 0.5);
  EXPECT_LT(point.sm_clock, session.model(0).clocks.max);
}

TEST_F(SessionTest, EveryGpuHasANameOfItsOwnThatAllProcessesSee) {
  const Session session = make("4xA100");
  const std::optional<Session> other = Session::attach(session.reference(), clock_);
  std::set<std::string> uuids;
  for (std::uint32_t index = 0; index < 4; ++index) {
    EXPECT_EQ(other->uuid(index), session.uuid(index));
    EXPECT_EQ(other->serial(index), session.serial(index));
    uuids.insert(session.uuid(index));
  }
  EXPECT_EQ(uuids.size(), 4U);
  EXPECT_NE(make("4xA100").uuid(0), session.uuid(0));
}

TEST_F(SessionTest, ANamedSessionHasTheSameGpusEachTime) {
  const auto named = [this] {
    return Session::create({.gpus = parse_gpus("1xA100"), .spec = "1xA100", .name = "n", .table = {}, .faults = {}},
                           clock_);
  };
  EXPECT_EQ(named().uuid(0), named().uuid(0));
}

TEST_F(SessionTest, ItsClockMovesAndStopsForAll) {
  Session session = make();
  const std::optional<Session> other = Session::attach(session.reference(), clock_);
  session.advance_clock(3600_s);
  EXPECT_EQ(other->now(), beginning + 3600_s);
  session.set_clock_running(false);
  pass(5_s);
  EXPECT_EQ(other->now(), beginning + 3600_s);
  session.advance_clock(1_s);
  EXPECT_EQ(other->now(), beginning + 3601_s);
  session.set_clock_running(true);
  pass(1_s);
  EXPECT_EQ(other->now(), beginning + 3602_s);
  EXPECT_THROW(session.advance_clock(-1_s), Error);
  EXPECT_THROW(session.advance_clock(Seconds{1e9}), Error);
}

TEST_F(SessionTest, AStampedSampleIsNeverSeenTwice) {
  const Session session = make();
  for (const std::int64_t nanoseconds : {0LL, 1LL, 999LL, 1000LL, 123'456'789LL}) {
    const Instant at{beginning.nanoseconds + nanoseconds};
    const auto stamp = static_cast<std::uint64_t>(session.civil(at).microseconds_since_epoch);
    EXPECT_LE(at, session.after_stamp(stamp));
    EXPECT_GT(Instant{at.nanoseconds + 1000}, session.after_stamp(stamp));
  }
  EXPECT_LT(session.after_stamp(0), beginning);
  EXPECT_GT(session.after_stamp(~std::uint64_t{0}), beginning);
}

TEST_F(SessionTest, TheUserOfAGpuIsTheProcessThatLoadedIt) {
  Session session = make();
  EXPECT_FALSE(session.load_owner(0));
  session.set_load(0, steady(100_W), ::getpid());
  EXPECT_EQ(session.load_owner(0)->process, ::getpid());
  session.set_load(0, physics::Load::constant(physics::Demand::none()), ::getpid());
  EXPECT_FALSE(session.load_owner(0));
}

TEST_F(SessionTest, AUserThatIsGoneIsNotListed) {
  Session session = make();
  ForkedChild child{[&] {
    session.set_load(0, steady(100_W), ::getpid());
    return true;
  }};
  ASSERT_TRUE(child.well());
  EXPECT_FALSE(session.load_owner(0));
}

TEST_F(SessionTest, SettingsAreSharedAndIndependentOfEachOther) {
  Session session = make("2xA100");
  const std::optional<Session> other = Session::attach(session.reference(), clock_);
  session.change_settings(1, [](GpuSettings& settings) { settings.persistence = 1; });
  session.change_settings(1, [](GpuSettings& settings) { settings.compute_mode = 3; });
  EXPECT_EQ(other->settings(1).persistence, 1U);
  EXPECT_EQ(other->settings(1).compute_mode, 3U);
  EXPECT_EQ(other->settings(0).persistence, 0U);
}

class CounterFault : public SessionTest {
 protected:
  // The counter's value each second, under a steady 100 W.
  std::vector<double> shown(const char* fault, int seconds, std::uint32_t index = 0) {
    Session session = make("2xV100", {*parse_fault(fault)});
    session.set_load(index, steady(100_W), ::getpid());
    std::vector<double> values;
    for (int i = 0; i <= seconds; ++i) {
      values.push_back(session.counter(index, session.now())->value());
      pass(1_s);
    }
    return values;
  }
};

constexpr double tick_error = 2.1;  // 100 W for one period of the counter, 20 ms, and a little

TEST_F(CounterFault, ResetStartsOverAtZero) {
  const auto values = shown("reset from=3s", 5);
  EXPECT_NEAR(values[2], 200, tick_error);
  EXPECT_NEAR(values[3], 0, tick_error);
  EXPECT_NEAR(values[5], 200, tick_error);
}

TEST_F(CounterFault, ResetIsExactEvenAfterAMinuteWithoutReadings) {
  Session session = make("1xV100", {*parse_fault("reset from=3s")});
  session.set_load(0, steady(100_W), ::getpid());
  pass(60_s);
  EXPECT_NEAR(session.counter(0, session.now())->value(), 5700, tick_error);
}

TEST_F(CounterFault, WrapStartsOverWheneverItIsFull) {
  const auto values = shown("wrap by=250J", 6);
  EXPECT_NEAR(values[2], 200, tick_error);
  EXPECT_NEAR(values[3], 50, tick_error);
  EXPECT_NEAR(values[6], 100, tick_error);
}

TEST_F(CounterFault, ConstantStandsStillForItsTimeAndThenCatchesUp) {
  const auto values = shown("constant from=2s for=2s", 5);
  EXPECT_NEAR(values[2], 200, tick_error);
  EXPECT_EQ(values[3], values[2]);
  EXPECT_NEAR(values[5], 500, tick_error);
}

TEST_F(CounterFault, BackwardJumpsBackAndGoesOn) {
  const auto values = shown("backward by=150J from=3s", 5);
  EXPECT_NEAR(values[2], 200, tick_error);
  EXPECT_NEAR(values[3], 150, tick_error);
  EXPECT_NEAR(values[5], 350, tick_error);
}

TEST_F(CounterFault, ConcernsItsGpuOnly) {
  EXPECT_NEAR(shown("reset from=1s gpu=0", 3, 1)[3], 300, tick_error);
}

TEST_F(CounterFault, OfEveryGpuBeginsAtEachGpusOwnValue) {
  Session session = make("2xV100", {*parse_fault("reset from=2s")});
  session.set_load(1, steady(200_W), ::getpid());
  pass(5_s);
  const double idle = session.model(0).power.idle.value();
  EXPECT_NEAR(session.counter(0, session.now())->value(), 3 * idle, tick_error);
  EXPECT_NEAR(session.counter(1, session.now())->value(), 600, 2 * tick_error);
}

TEST_F(SessionTest, AFaultOfCallsOccursTheGivenNumberOfTimes) {
  const Session session = make("2xV100", {*parse_fault("timeout call=*Power* times=2 gpu=1")});
  const auto strikes = [&](std::uint32_t gpu) { return session.strike("GetPower", gpu, session.now()).has_value(); };
  EXPECT_FALSE(strikes(0));
  EXPECT_TRUE(strikes(1));
  EXPECT_FALSE(session.strike("GetEnergy", 1, session.now()));
  EXPECT_TRUE(strikes(1));
  EXPECT_FALSE(strikes(1));
}

TEST_F(SessionTest, FaultsAreAddedAndClearedForAllProcesses) {
  Session session = make();
  const std::optional<Session> other = Session::attach(session.reference(), clock_);
  session.add_fault(*parse_fault("lost"));
  EXPECT_EQ(other->strike("any", 0, other->now())->kind, FaultKind::lost);
  session.clear_faults();
  EXPECT_FALSE(other->strike("any", 0, other->now()));
  EXPECT_THROW(session.add_fault(*parse_fault("lost gpu=1")), Error);
}

TEST_F(SessionTest, HoldsABoundedNumberOfFaults) {
  Session session = make();
  for (std::size_t i = 0; i < FaultTable::capacity; ++i) {
    session.add_fault(*parse_fault("lost"));
  }
  EXPECT_THROW(session.add_fault(*parse_fault("lost")), Error);
}

TEST_F(SessionTest, SixtyFourProcessesShareIt) {
  constexpr int processes = 64;
  constexpr int rounds = 200;
  const Session session = make("2xV100");
  const std::string reference = session.reference();
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(std::make_unique<ForkedChild>([&, process] {
      const SystemClock clock;
      std::optional<Session> own = Session::attach(reference, clock);
      std::uint64_t last = 0;
      for (int round = 0; round < rounds; ++round) {
        const auto gpu = static_cast<std::uint32_t>((process + round) % 2);
        if (round % 10 == 0) {
          own->change_controls(gpu, [&](physics::Controls& controls) {
            controls.requested_limit = Watts{100.0 + process};
            controls.ceiling = Watts{100.0 + process};
          });
        }
        const physics::Controls controls = own->gpu(gpu).controls();
        if (controls.requested_limit != controls.ceiling && controls.ceiling != own->model(gpu).limits.max) {
          return false;
        }
        const std::uint64_t energy = *own->counted(0, own->now(), Millijoules{1});
        if (energy < last) {
          return false;
        }
        last = energy;
        own->calls().add("read", own->now(), process, 0, 0);
      }
      return true;
    }));
  }
  for (const auto& child : children) {
    EXPECT_TRUE(child->well());
  }
  EXPECT_EQ(session.calls().count(), processes * rounds);
}

}  // namespace
}  // namespace zeus::drivers
