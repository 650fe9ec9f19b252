#include "optimize/power_limit/profiler.hpp"

#include "base/random.hpp"
#include "optimize/power_limit/adaptive_plan.hpp"
#include "optimize/power_limit/full_sweep.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace zeus::optimize {
namespace {

SliceReading reading_of(Seconds time, Joules energy) {
  return {.time = time,
          .time_uncertainty = 0_s,
          .energy = {.value = energy,
                     .uncertainty = 0_J,
                     .systematic = std::nullopt,
                     .method = records::EnergyMethod::counter},
          .capped = std::nullopt};
}

// A job whose steps take 1 s at any limit and draw as much as the limit allows, so the lowest limit is the best.
class Loop {
 public:
  Loop(const SettingRange& range, const ProfilerOptions& options,
       const FullSweepOptions& sweep = {.settle = 2, .measure = 3})
      : profiler_{std::make_unique<FullSweep>(range, select_energy(), sweep), options}, in_force_{options.baseline} {}

  void step() {
    carry_out(profiler_.on_step_begin());
    log_ += open_ ? 'P' : (in_force_ == baseline() ? 'R' : 'W');
    if (open_) {
      ++measured_;
    }
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      step();
    }
  }
  void end_epoch(bool last_step_is_over = false) {
    log_ += '|';
    carry_out(profiler_.on_epoch_end(last_step_is_over));
  }

  void carry_out(const ProfilerActions& actions) {
    for (const ProfilerAction& action : actions) {
      switch (action.kind) {
        case ProfilerActionKind::set:
        case ProfilerActionKind::apply_optimum:
          in_force_ = action.setting;
          sets_ += fmt::format("{} ", action.setting.limit.value());
          break;
        case ProfilerActionKind::open_window:
          EXPECT_FALSE(open_);
          open_ = true;
          measured_ = 0;
          break;
        case ProfilerActionKind::cancel_window:
          EXPECT_TRUE(open_);
          open_ = false;
          break;
        case ProfilerActionKind::close_window:
          EXPECT_TRUE(open_);
          open_ = false;
          carry_out(answer_(measured_));
          break;
      }
    }
  }

  [[nodiscard]] records::PowerSetting baseline() const { return {.limit = 250_W, .clock = std::nullopt}; }
  Profiler& profiler() { return profiler_; }
  [[nodiscard]] const std::string& log() const { return log_; }
  [[nodiscard]] const std::string& sets() const { return sets_; }
  [[nodiscard]] records::PowerSetting in_force() const { return in_force_; }
  void answer_with(std::function<ProfilerActions(int)> answer) { answer_ = std::move(answer); }

 private:
  Profiler profiler_;
  records::PowerSetting in_force_;
  bool open_ = false;
  int measured_ = 0;
  std::string log_;
  std::string sets_;
  std::function<ProfilerActions(int)> answer_ = [this](int steps) {
    return profiler_.on_slice(reading_of(Seconds(steps), Joules{steps * in_force_.limit.value()}));
  };
};

const SettingRange three{{250_W, 200_W, 150_W}};
const ProfilerOptions from_the_top{.baseline = three.highest()};

TEST(Profiler, WaitsSettlesAndMeasuresEachLimitFromTheHighestDown) {
  Loop loop{three, from_the_top};
  loop.steps(20);
  EXPECT_EQ(loop.log(), "RRRPPPWWPPPWWPPPWWWW");
  EXPECT_EQ(loop.sets(), "200 150 150 ");
  EXPECT_TRUE(loop.profiler().done());
  EXPECT_EQ(loop.profiler().steps(), 16U);
  EXPECT_EQ(loop.in_force().limit, 150_W);
}

TEST(Profiler, RepeatsASliceThatAnEpochsEndInterrupts) {
  Loop loop{three, from_the_top};
  loop.steps(9);
  loop.end_epoch();
  EXPECT_EQ(loop.in_force(), loop.baseline());
  loop.steps(9);
  EXPECT_EQ(loop.log(), "RRRPPPWWP|WWPPPRRRR");
  EXPECT_EQ(loop.profiler().measurements().size(), 2U);
  loop.end_epoch();
  loop.steps(6);
  EXPECT_TRUE(loop.profiler().done());
  EXPECT_EQ(loop.sets(), "200 250 200 250 150 150 ");
}

TEST(Profiler, BeginsNoSliceThatDoesNotFitIntoAnEpochOfKnownLength) {
  Loop loop{three, {.baseline = three.highest(), .wait_steps = 1, .steps_per_epoch = 9}};
  for (int epoch = 0; epoch < 3; ++epoch) {
    loop.steps(9);
    loop.end_epoch();
  }
  EXPECT_EQ(loop.log(), "RRRPPPRRR|WWPPPRRRR|WWPPPWWWW|");
  EXPECT_TRUE(loop.profiler().done());
}

// The first epoch is shorter than the rest: a pause was taken for its end.
TEST(Profiler, BeginsASliceInAnEpochThatIsLongerThanTheOneBefore) {
  Loop loop{three, from_the_top};
  loop.steps(7);
  loop.end_epoch();
  loop.steps(14);
  EXPECT_EQ(loop.log(), "RRRPPPW|WWPPPRRRWWPPPW");
  EXPECT_TRUE(loop.profiler().done());
}

TEST(Profiler, ShortensSlicesToTheLengthOfEpochs) {
  Loop loop{three, from_the_top, {.settle = 10, .measure = 40}};
  for (int epoch = 0; epoch < 5 && !loop.profiler().done(); ++epoch) {
    loop.steps(6);
    loop.end_epoch();
  }
  loop.step();
  EXPECT_TRUE(loop.profiler().done());
  EXPECT_EQ(loop.log(), "RRRRRR|RPPPPR|WPPPPR|WPPPPW|W");
}

TEST(Profiler, ASliceMayEndWithItsEpochIfTheLastStepIsOver) {
  Loop loop{three, from_the_top};
  for (int epoch = 0; epoch < 4; ++epoch) {
    loop.steps(5);
    loop.end_epoch(true);
  }
  EXPECT_TRUE(loop.profiler().done());
  loop.step();
  EXPECT_EQ(loop.log(), "RRRPP|RRPPP|WWPPP|WWPPP|W");
  EXPECT_EQ(loop.sets(), "200 250 150 150 ");
}

TEST(Profiler, LeavesAJobWithSingleStepEpochsAlone) {
  Loop loop{three, from_the_top};
  for (int epoch = 0; epoch < 50; ++epoch) {
    loop.step();
    loop.end_epoch();
  }
  EXPECT_FALSE(loop.profiler().done());
  EXPECT_EQ(loop.sets(), "");
  EXPECT_FALSE(loop.profiler().optimum());
}

TEST(Profiler, OpensNoWindowInAnEpochOfASingleStep) {
  Loop loop{three, from_the_top, {.settle = 0, .measure = 1}};
  for (int epoch = 0; epoch < 4; ++epoch) {
    loop.step();
    loop.end_epoch();
  }
  EXPECT_EQ(loop.log(), "R|R|R|R|");
}

TEST(Profiler, AnObserverFindsTheOptimumAndReturnsToTheBaseline) {
  Loop loop{three, {.baseline = three.highest(), .wait_steps = 0, .steps_per_epoch = {}, .apply = false}};
  loop.steps(20);
  EXPECT_EQ(loop.profiler().optimum()->limit, 150_W);
  EXPECT_EQ(loop.in_force(), loop.baseline());
}

TEST(Profiler, LeavesOutASettingThatTheDeviceRefuses) {
  Loop loop{three, from_the_top};
  loop.steps(6);
  loop.carry_out(loop.profiler().on_step_begin());
  ASSERT_EQ(loop.in_force().limit, 200_W);
  loop.carry_out(loop.profiler().on_refused());
  EXPECT_EQ(loop.in_force().limit, 150_W);
  loop.steps(6);
  EXPECT_TRUE(loop.profiler().done());
  EXPECT_EQ(loop.profiler().measurements().size(), 2U);
}

TEST(Profiler, ReturnsToTheBaselineIfTheOptimumIsRefused) {
  Loop loop{three, from_the_top};
  loop.steps(20);
  loop.carry_out(loop.profiler().on_refused());
  EXPECT_EQ(loop.in_force(), loop.baseline());
  EXPECT_TRUE(loop.profiler().on_refused().empty());
}

TEST(Profiler, EndsWithoutAChoiceIfEverySettingIsRefused) {
  Profiler profiler{std::make_unique<FullSweep>(SettingRange{{250_W, 200_W}}, select_time()), from_the_top};
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(profiler.on_step_begin());
  }
  static_cast<void>(profiler.on_refused());
  static_cast<void>(profiler.on_refused());
  EXPECT_TRUE(profiler.done());
  EXPECT_FALSE(profiler.optimum());
}

TEST(Profiler, RepeatsALostSliceAndDropsASettingAfterThreeLosses) {
  Loop loop{three, from_the_top};
  int losses = 0;
  loop.answer_with([&](int steps) {
    if (loop.in_force().limit == 200_W && losses < 3) {
      ++losses;
      return loop.profiler().on_slice_lost();
    }
    return loop.profiler().on_slice(reading_of(Seconds(steps), Joules{steps * loop.in_force().limit.value()}));
  });
  loop.steps(40);
  EXPECT_EQ(losses, 3);
  EXPECT_TRUE(loop.profiler().done());
  EXPECT_EQ(loop.profiler().measurements().size(), 2U);
  EXPECT_EQ(loop.sets(), "200 150 150 ");
}

TEST(Profiler, SetsAgainAfterAnotherProcessOverruledIt) {
  Loop loop{three, from_the_top};
  bool lost = false;
  loop.answer_with([&](int steps) {
    if (loop.in_force().limit == 200_W && !std::exchange(lost, true)) {
      loop.profiler().on_overruled();
      return loop.profiler().on_slice_lost();
    }
    return loop.profiler().on_slice(reading_of(Seconds(steps), Joules{steps * loop.in_force().limit.value()}));
  });
  loop.steps(40);
  EXPECT_EQ(loop.profiler().measurements().size(), 3U);
  EXPECT_EQ(loop.sets(), "200 200 150 150 ");
}

TEST(Profiler, RefusesImpossibleReadingsAndContinues) {
  const double nan = std::nan("");
  const double infinite = std::numeric_limits<double>::infinity();
  Loop loop{three, from_the_top};
  int refused = 0;
  loop.answer_with([&](int steps) {
    for (const double bad : {nan, infinite, -infinite, 0.0, -1.0}) {
      EXPECT_THROW(static_cast<void>(loop.profiler().on_slice(reading_of(Seconds{bad}, 1_J))), Error);
      EXPECT_THROW(static_cast<void>(loop.profiler().on_slice(reading_of(1_s, Joules{bad}))), Error);
      refused += 2;
    }
    SliceReading doubtful = reading_of(1_s, 1_J);
    doubtful.energy.uncertainty = Joules{nan};
    EXPECT_THROW(static_cast<void>(loop.profiler().on_slice(doubtful)), Error);
    SliceReading capped = reading_of(1_s, 1_J);
    capped.capped = 1.5;
    EXPECT_THROW(static_cast<void>(loop.profiler().on_slice(capped)), Error);
    return loop.profiler().on_slice(reading_of(Seconds(steps), Joules{steps * loop.in_force().limit.value()}));
  });
  loop.steps(20);
  EXPECT_EQ(refused, 30);
  EXPECT_TRUE(loop.profiler().done());
}

TEST(Profiler, RefusesEventsInTheWrongState) {
  Profiler profiler{std::make_unique<FullSweep>(three, select_time(), FullSweepOptions{.settle = 0, .measure = 1}),
                    from_the_top};
  EXPECT_THROW(static_cast<void>(profiler.on_slice(reading_of(1_s, 1_J))), Error);
  EXPECT_THROW(static_cast<void>(profiler.on_slice_lost()), Error);
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(profiler.on_step_begin());
  }
  EXPECT_THROW(static_cast<void>(profiler.on_step_begin()), Error);
  EXPECT_THROW(static_cast<void>(profiler.on_epoch_end()), Error);
  EXPECT_THROW(static_cast<void>(profiler.on_refused()), Error);
  EXPECT_FALSE(profiler.on_slice(reading_of(1_s, 1_J)).empty());
  EXPECT_THROW((Profiler{nullptr, from_the_top}), Error);
}

// For any sequence of events: only allowed settings are requested, windows open and close in turn, and profiling ends.
class AnySequence : public testing::TestWithParam<int> {};

TEST_P(AnySequence, RequestsOnlyAllowedSettingsAndEnds) {
  Random random{static_cast<std::uint64_t>(GetParam())};
  const SettingRange range{{300_W, 250_W, 200_W, 150_W, 100_W}, {1000_MHz, 800_MHz, 600_MHz}};
  const bool adaptive = random.uniform() < 0.7;
  std::unique_ptr<PowerLimitPlan> plan;
  if (adaptive) {
    plan = std::make_unique<AdaptivePlan>(range, select_zeus_cost(random.uniform()));
  } else {
    plan = std::make_unique<FullSweep>(range, select_zeus_cost(random.uniform()));
  }
  Profiler profiler{std::move(plan), {.baseline = range.highest(), .wait_steps = 1}};
  const double trouble = random.uniform() < 0.5 ? 0.0 : 0.02;
  const auto epoch = 20 + random.below(300);
  const double draw = random.uniform(40.0, 400.0);
  records::PowerSetting in_force = range.highest();
  bool open = false;
  const auto carry_out = [&](ProfilerActions actions) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const ProfilerAction action = actions[i];
      switch (action.kind) {
        case ProfilerActionKind::set:
        case ProfilerActionKind::apply_optimum: {
          ASSERT_TRUE(range.holds(action.setting));
          ASSERT_FALSE(open);
          in_force = action.setting;
          if (random.uniform() < trouble && i + 1 == actions.size()) {
            const ProfilerActions next = profiler.on_refused();
            actions.insert(actions.end(), next.begin(), next.end());
          }
          break;
        }
        case ProfilerActionKind::open_window:
          ASSERT_FALSE(open);
          open = true;
          break;
        case ProfilerActionKind::cancel_window:
          ASSERT_TRUE(open);
          open = false;
          break;
        case ProfilerActionKind::close_window: {
          ASSERT_TRUE(open);
          open = false;
          const bool lost = random.uniform() < trouble;
          const double power = std::min(draw, in_force.limit.value());
          const double noise = 1.0 + 0.1 * random.uniform(-1.0, 1.0);
          SliceReading reading = reading_of(Seconds{10.0 * noise * draw / power}, Joules{10.0 * draw * noise});
          if (random.uniform() < 0.5) {
            reading.capped = draw > in_force.limit.value() ? 1.0 : 0.0;
          }
          const ProfilerActions next = lost ? profiler.on_slice_lost() : profiler.on_slice(reading);
          actions.insert(actions.end(), next.begin(), next.end());
          break;
        }
      }
    }
  };
  int step = 0;
  for (; step < 20'000 && !profiler.done(); ++step) {
    carry_out(profiler.on_step_begin());
    if (HasFatalFailure()) {
      return;
    }
    if (static_cast<std::uint64_t>(step) % epoch == epoch - 1 || random.uniform() < 0.1 * trouble) {
      carry_out(profiler.on_epoch_end());
      EXPECT_FALSE(open);
      if (!profiler.done()) {
        EXPECT_EQ(in_force, range.highest());
      }
    }
  }
  EXPECT_TRUE(profiler.done());
  EXPECT_FALSE(open);
  if (const auto optimum = profiler.optimum()) {
    EXPECT_TRUE(range.holds(*optimum));
  }
}

INSTANTIATE_TEST_SUITE_P(Many, AnySequence, testing::Range(1, 201));

}  // namespace
}  // namespace zeus::optimize
