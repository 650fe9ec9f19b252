#include "pacing/instruction_profiler.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace zeus::pacing {
namespace {

// A GPU whose instructions take time and power by simple laws, on a virtual clock.
class LawfulGpu {
 public:
  VirtualClock clock{Instant{1'000'000'000}};
  Megahertz locked{1410};
  Joules used;
  std::vector<double> asked;
  std::string refuses;  // from the next lock on
  bool put_back = false;
  Seconds hiccup{0};    // more for every second run
  int lowest = 210;     // of its clocks, in MHz
  Megahertz cap{1410};  // that the power limit allows
  Seconds lag{0};       // until a clock that was locked is there
  Instant locked_at;
  int unknown_windows = 0;  // whose energy is unknown, before others
  Joules noise{0};          // more in each window than in the one before
  int windows = 0;

  [[nodiscard]] Seconds time(double work) const {
    return Seconds{work * (0.2 + 0.8 * 1410.0 / std::min(locked, cap).value())};
  }
  [[nodiscard]] Watts power() const {
    return Watts{100.0 + 250.0 * std::pow(std::min(locked, cap).value() / 1410.0, 3.0)};
  }
  void pass(Seconds seconds, Watts watts) {
    used += watts * seconds;
    clock.advance(seconds);
  }
  PipelineProfiler::Work work(double amount) {
    return [this, amount](int times) {
      for (int i = 0; i < times; ++i) {
        const bool settled = clock.now() - locked_at >= lag;
        pass(time(settled ? amount : 0.5 * amount) + (runs_++ % 2 == 0 ? Seconds{0} : hiccup), power());
      }
    };
  }

 private:
  int runs_ = 0;
};

class LawfulWindow final : public ProfiledGpu {
 public:
  explicit LawfulWindow(LawfulGpu& gpu) : gpu_{gpu} {}
  [[nodiscard]] std::vector<Megahertz> clocks() override {
    std::vector<Megahertz> all;
    for (int clock = 1410; clock >= gpu_.lowest; clock -= 15) {
      all.emplace_back(clock);
    }
    return all;
  }
  void lock(Megahertz clock) override {
    if (!gpu_.refuses.empty()) {
      throw Error{ErrorKind::permission_denied, gpu_.refuses};
    }
    gpu_.locked = clock;
    gpu_.locked_at = gpu_.clock.now();
    gpu_.asked.push_back(clock.value());
  }
  void begin_window() override { begun_ = gpu_.used; }
  MeteredWindow end_window() override {
    if (gpu_.windows++ < gpu_.unknown_windows) {
      return {.energy = std::nullopt, .uncertainty = {}, .reason = "its counter stood still"};
    }
    return {.energy = gpu_.used - begun_ + static_cast<double>(gpu_.windows) * gpu_.noise,
            .uncertainty = 0.1_J,
            .reason = {}};
  }
  void put_back() override { gpu_.put_back = true; }

 private:
  LawfulGpu& gpu_;
  Joules begun_;
};

class InstructionProfile : public testing::Test {
 protected:
  void measure_both() {
    (void)profiler_.measure_blocking([this] { gpu_.pass(0.4_s, 70_W); });
    profiler_.measure(0, "forward", gpu_.work(0.03), {});
    const auto forward = gpu_.work(0.03);
    const auto backward = gpu_.work(0.06);
    profiler_.measure(
        0, "backward",
        [&](int times) {
          for (int i = 0; i < times; ++i) {
            forward(1);
            backward(1);
          }
        },
        "forward");
  }

  LawfulGpu gpu_;
  InstructionProfiler profiler_{[this] { return std::make_unique<LawfulWindow>(gpu_); }, gpu_.clock, 0.4_s};
};

TEST_F(InstructionProfile, EachMeasurementIsTheLawOfItsClock) {
  measure_both();
  ASSERT_EQ(profiler_.trouble(), "");
  for (const PipelineMeasurement& one : profiler_.measurements()) {
    gpu_.locked = one.frequency;
    const Seconds time = gpu_.time(one.instruction == "forward" ? 0.03 : 0.06);
    EXPECT_NEAR(one.time.value(), time.value(), 1e-6) << one.instruction << one.frequency.value();
    EXPECT_NEAR(one.energy.value(), (gpu_.power() * time).value(), 1e-6);
    EXPECT_GT(one.energy_uncertainty, 0_J);
    EXPECT_LT(one.energy_uncertainty, 0.03_J) << "0.1 J shared by all runs in a window";
  }
}

TEST_F(InstructionProfile, ClocksAreTriedInWideStepsUntilSlowerOnesSaveNothing) {
  measure_both();
  std::vector<double> tried;
  for (const PipelineMeasurement& one : profiler_.measurements()) {
    if (one.instruction == "forward") {
      tried.push_back(one.frequency.value());
    }
  }
  EXPECT_EQ(tried.front(), 1410);
  EXPECT_LE(tried.size(), 12U);
  EXPECT_GE(tried.size(), 5U);
  // Below 550 MHz it takes more than twice as long as at the highest clock.
  EXPECT_LT(tried.back(), 900);
  EXPECT_GT(tried.back(), 450);
  for (std::size_t i = 1; i < tried.size(); ++i) {
    EXPECT_NEAR(tried[i - 1] - tried[i], 0.07 * 1410, 15);
  }
}

TEST_F(InstructionProfile, BesideAClockTheMiddlesAreMeasuredOnce) {
  measure_both();
  const std::size_t before = profiler_.measurements().size();
  const Megahertz planned = profiler_.measurements()[2].frequency;
  profiler_.measure_beside(0, "forward", planned, gpu_.work(0.03), {});
  ASSERT_EQ(profiler_.measurements().size(), before + 2);
  EXPECT_NEAR(profiler_.measurements()[before].frequency.value(), planned.value() + 50, 15);
  EXPECT_NEAR(profiler_.measurements()[before + 1].frequency.value(), planned.value() - 50, 15);
}

TEST_F(InstructionProfile, TimesThatVaryHaveWiderIntervals) {
  gpu_.hiccup = 0.003_s;
  profiler_.measure(0, "forward", gpu_.work(0.05), {});
  // The times of parts differ by one hiccup or none, so that each interval has the mean of all.
  for (const PipelineMeasurement& one : profiler_.measurements()) {
    gpu_.locked = one.frequency;
    const double mean = (gpu_.time(0.05) + 0.0015_s).value();
    EXPECT_LE(std::abs(one.time.value() - mean), one.time_uncertainty.value() + 1e-9);
  }
}

TEST_F(InstructionProfile, AWindowThatSomethingDisturbedIsRepeated) {
  int runs = 0;
  const auto steady = gpu_.work(0.05);
  profiler_.measure(0, "forward",
                    [&](int times) {
                      steady(times);
                      // Something else delays one part of the first window.
                      if (++runs == 4) {
                        gpu_.pass(0.5_s, 100_W);
                      }
                    },
                    {});
  const PipelineMeasurement& first = profiler_.measurements().front();
  EXPECT_NEAR(first.time.value(), 0.05, 1e-6);
  EXPECT_LT(first.time_uncertainty, 0.001_s);
}

TEST_F(InstructionProfile, ARefusedClockEndsTheProfileAndIsReported) {
  profiler_.measure(0, "forward", gpu_.work(0.03), {});
  const std::size_t before = profiler_.measurements().size();
  gpu_.refuses = "not permitted";
  profiler_.measure(0, "backward", gpu_.work(0.06), {});
  EXPECT_NE(profiler_.trouble().find("not permitted"), std::string::npos);
  EXPECT_TRUE(gpu_.put_back);
  int runs = 0;
  profiler_.measure(0, "backward", [&](int times) { runs += times; }, {});
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(profiler_.measurements().size(), before);
}

TEST_F(InstructionProfile, WhatAWindowLeavesUnknownIsMeasuredAgainWithItsPart) {
  // Something else delays all of the forward's first windows, so that with its backward it seems to take less.
  int left = 14;
  const auto forward = gpu_.work(0.03);
  const auto both = gpu_.work(0.09);
  profiler_.measure(0, "forward",
                    [&](int times) {
                      forward(times);
                      if (left-- > 0) {
                        gpu_.pass(static_cast<double>(times) * 0.2_s, 100_W);
                      }
                    },
                    {});
  profiler_.measure(0, "backward", both, "forward");
  EXPECT_EQ(profiler_.trouble(), "");
  for (const PipelineMeasurement& one : profiler_.measurements()) {
    gpu_.locked = one.frequency;
    EXPECT_NEAR(one.time.value(), gpu_.time(one.instruction == "forward" ? 0.03 : 0.06).value(), 1e-6)
        << one.instruction << one.frequency.value();
  }
}

TEST_F(InstructionProfile, AWindowOfUnknownEnergyIsMeasuredAgain) {
  gpu_.unknown_windows = 3;
  profiler_.measure(0, "forward", gpu_.work(0.03), {});
  EXPECT_EQ(profiler_.trouble(), "");
  EXPECT_NEAR(profiler_.measurements().front().energy.value(), 0.03 * 350, 1e-6);
}

TEST_F(InstructionProfile, AnUnknownPowerOfBlockingIsNoTrouble) {
  gpu_.unknown_windows = 1;
  EXPECT_EQ(profiler_.measure_blocking([this] { gpu_.pass(0.4_s, 70_W); }), std::nullopt);
  EXPECT_EQ(profiler_.trouble(), "");
  EXPECT_EQ(profiler_.measure_blocking([this] { gpu_.pass(0.4_s, 70_W); }), 70_W);
}

TEST_F(InstructionProfile, AnInstructionThatNoWindowTellsIsNamedWithItsClock) {
  profiler_.measure(3, "forward", [](int /*times*/) {}, {});
  EXPECT_EQ(
      profiler_.trouble(),
      "the pipeline's instructions are not measured: 'forward' of stage 3 cannot be measured at 1410 MHz, even when it "
      "is repeated for 6.4 s: it takes no measurable time or energy");
}

TEST_F(InstructionProfile, AnEnergyThatIsNeverKnownIsNamedWithItsReason) {
  gpu_.unknown_windows = 1000;
  profiler_.measure(0, "forward", gpu_.work(0.03), {});
  EXPECT_EQ(
      profiler_.trouble(),
      "the pipeline's instructions are not measured: 'forward' of stage 0 cannot be measured at 1410 MHz, even when it "
      "is repeated for 6.4 s: its counter stood still");
  EXPECT_TRUE(gpu_.put_back);
}

TEST_F(InstructionProfile, SlowerClocksAreTriedWhereAPowerLimitMakesTheHighestAlike) {
  gpu_.cap = Megahertz{1110};
  gpu_.noise = 0.001_J;  // the first of those that are alike looks cheapest
  (void)profiler_.measure_blocking([this] { gpu_.pass(0.4_s, 70_W); });
  profiler_.measure(0, "forward", gpu_.work(0.03), {});
  EXPECT_LT(profiler_.measurements().back().frequency, 800_MHz);
}

TEST_F(InstructionProfile, AGpuWithOneClockIsMeasuredAtIt) {
  gpu_.lowest = 1410;
  InstructionProfiler profiler{[this] { return std::make_unique<LawfulWindow>(gpu_); }, gpu_.clock, 0.4_s};
  profiler.measure(0, "forward", gpu_.work(0.03), {});
  profiler.measure(0, "backward", gpu_.work(0.09), "forward");
  profiler.measure_beside(0, "forward", 1410_MHz, gpu_.work(0.03), {});
  EXPECT_EQ(profiler.trouble(), "");
  ASSERT_EQ(profiler.measurements().size(), 2U);
  EXPECT_NEAR(profiler.measurements()[1].time.value(), 0.06, 1e-6);
}

TEST_F(InstructionProfile, WindowsBeginWhenTheClockHasSettled) {
  gpu_.lag = 0.05_s;
  profiler_.measure(0, "forward", gpu_.work(0.003), {});
  for (const PipelineMeasurement& one : profiler_.measurements()) {
    gpu_.locked = one.frequency;
    EXPECT_NEAR(one.time.value(), gpu_.time(0.003).value(), 1e-6) << one.frequency.value();
  }
}

TEST_F(InstructionProfile, WhatTheWorkThrowsPassesThrough) {
  struct Stop {};
  EXPECT_THROW(profiler_.measure(0, "forward", [](int /*times*/) { throw Stop{}; }, {}), Stop);
  // An Error of the work's own is not the GPU's.
  const Error own{ErrorKind::not_found, "no batch"};
  EXPECT_THROW((void)profiler_.measure_blocking([&] { throw Error{own}; }), Error);
  for (int last = 1; last <= 3; ++last) {
    int runs = 0;
    EXPECT_THROW(profiler_.measure(0, "forward",
                                   [&](int times) {
                                     gpu_.work(0.03)(times);
                                     if (++runs == last) {
                                       throw Error{own};
                                     }
                                   },
                                   {}),
                 Error)
        << "in run " << last;
  }
  EXPECT_EQ(profiler_.trouble(), "");
  profiler_.close();
  EXPECT_TRUE(gpu_.put_back);
}

}  // namespace
}  // namespace zeus::pacing
