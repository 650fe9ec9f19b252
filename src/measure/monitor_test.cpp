#include "base/log.hpp"
#include "base/random.hpp"
#include "tests/support/monitored_gpus.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <utility>

namespace zeus {
namespace {

using test::MonitoredGpus;
using test::MonitoredGpusInRealTime;

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(Monitor, AWindowHoldsTheEnergyOfItsTimeOnEachGpu) {
  MonitoredGpus bench{{"A100", "V100", "P100"}};
  for (const auto& gpu : bench.gpus) {
    gpu->draw(200_W);
  }
  bench.pass(3_ms);  // the counters tick when the clock begins: move away from that tick
  bench.monitor->begin("step");
  bench.pass(0.35_s);
  const Measurement settled = bench.monitor->settle(bench.monitor->end("step"));
  EXPECT_TRUE(settled.settled);
  EXPECT_EQ(settled.window, "step");
  for (int gpu = 0; gpu < 3; ++gpu) {
    bench.expect_truth(settled, gpu);
  }
  EXPECT_EQ(settled.gpu_energy.at(0).energy->method, EnergyMethod::counter);
  EXPECT_EQ(settled.gpu_energy.at(2).energy->method, EnergyMethod::integrated);
  const Energy total = *settled.total_gpu_energy().energy;
  EXPECT_NEAR(total.value.value(),
              (bench.truth(settled, 0) + bench.truth(settled, 1) + bench.truth(settled, 2)).value(),
              total.uncertainty.value());
}

// Steps of the GPUs' load at any time, all at once.
void draw_steps(MonitoredGpus& bench, Random& random, Seconds time) {
  const Instant until = bench.clock.now() + time;
  while (bench.clock.now() < until) {
    const Watts power{random.uniform(80, 300)};
    for (const auto& gpu : bench.gpus) {
      gpu->draw(power);
    }
    bench.pass(std::min(until - bench.clock.now(), Seconds{0.06 * random.exponential()}));
  }
}

// GPUs that work in step have one error between two ticks, so that those of the singles do not cancel in the total.
TEST(Monitor, ATotalOverGpusInStepHoldsTheirEnergyAsOftenAsASingleOne) {
  MonitoredGpus bench{std::vector<const char*>(4, "A100")};
  Random random{11};
  const auto listening = bench.monitor->listen();
  draw_steps(bench, random, 2_s);
  constexpr int windows = 120;
  int held = 0;
  Joules of_totals;
  Joules of_singles;
  for (int window = 0; window < windows; ++window) {
    bench.monitor->begin("w");
    draw_steps(bench, random, 0.2_s);
    const Measurement at_once = bench.monitor->end("w");
    draw_steps(bench, random, 0.3_s);
    const Measurement settled = bench.monitor->settle(at_once);
    Joules truth;
    for (std::size_t gpu = 0; gpu < bench.gpus.size(); ++gpu) {
      truth += bench.truth(settled, gpu);
      of_singles += settled.gpu_energy.at(static_cast<int>(gpu)).energy->uncertainty;
    }
    const Energy total = *settled.total_gpu_energy().energy;
    held += abs(total.value - truth) <= total.uncertainty ? 1 : 0;
    of_totals += total.uncertainty;
  }
  EXPECT_GE(held, 107);                    // 95 % less three standard errors
  EXPECT_GT(of_totals, of_singles * 0.8);  // independent errors would make half of it
}

TEST(Monitor, WindowsNestAndOverlapInAnyWay) {
  MonitoredGpus bench{{"V100"}};
  bench.gpus[0]->draw(150_W);
  Monitor& monitor = *bench.monitor;
  monitor.begin("outer");
  bench.pass(0.1_s);
  monitor.begin("a");
  bench.pass(0.1_s);
  monitor.begin("b");
  const Measurement a = monitor.end("a");
  bench.pass(0.1_s);
  const Measurement outer = monitor.end("outer");
  const Measurement b = monitor.end("b");
  for (const Measurement& m : {a, b, outer}) {
    const Measurement settled = monitor.settle(m);
    bench.expect_truth(settled);
  }
  EXPECT_NEAR(a.time().value(), 0.1, 1e-9);
  EXPECT_NEAR(b.time().value(), 0.1, 1e-9);
  EXPECT_NEAR(outer.time().value(), 0.3, 1e-9);
}

TEST(Monitor, ALongWindowKeepsItsBeginning) {
  MonitoredGpus bench{{"V100"}};
  bench.gpus[0]->draw(100_W);
  bench.monitor->begin("long");
  bench.pass(1.3_s);  // more ticks than are remembered
  bench.gpus[0]->draw(220_W);
  bench.pass(0.2_s);
  const Measurement m = bench.monitor->settle(bench.monitor->end("long"));
  bench.expect_truth(m);
  EXPECT_LT(m.gpu_energy.at(0).energy->uncertainty, 10_J);
}

TEST(Monitor, EndReturnsAtOnceWithAnEstimate) {
  MonitoredGpus bench{{"A100"}};
  bench.gpus[0]->draw(200_W);
  bench.monitor->begin("w");
  bench.pass(0.02_s);
  const Instant before = bench.clock.now();
  const Measurement m = bench.monitor->end("w");
  EXPECT_EQ(bench.clock.now(), before);
  EXPECT_FALSE(m.settled);
  bench.expect_truth(m);
  const Measurement settled = bench.monitor->settle(m);
  EXPECT_TRUE(settled.settled);
  bench.expect_truth(settled);
}

TEST(Monitor, AnOpenWindowHasAnEstimateSoFarAndGoesOn) {
  MonitoredGpus bench{{"A100", "P100"}};
  bench.gpus[0]->draw(200_W);
  bench.gpus[1]->draw(120_W);
  bench.monitor->begin("epoch");
  std::vector<Measurement> looks;
  for (int i = 0; i < 5; ++i) {
    bench.pass(0.13_s);
    const Instant before = bench.clock.now();
    looks.push_back(bench.monitor->so_far("epoch"));
    EXPECT_EQ(bench.clock.now(), before);
    bench.expect_truth(looks.back(), 0);
    bench.expect_truth(looks.back(), 1);
    EXPECT_NEAR(looks.back().time().value(), 0.13 * (i + 1), 1e-9);
    EXPECT_EQ(looks.back().window, "epoch");
  }
  const Measurement whole = bench.monitor->settle(bench.monitor->end("epoch"));
  bench.expect_truth(whole, 0);
  EXPECT_NEAR(whole.time().value(), 0.65, 1e-9);
  for (const Measurement& look : looks) {
    const Measurement settled = bench.monitor->settle(look);
    EXPECT_TRUE(settled.settled);
    EXPECT_EQ(settled.time(), look.time());
    bench.expect_truth(settled, 0);
    bench.expect_truth(settled, 1);
  }
  EXPECT_EQ(kind_of([&] { (void)bench.monitor->so_far("epoch"); }), ErrorKind::not_found);
}

// Ten looks at each window, at any time, under steps that nothing predicts.
TEST(Monitor, TheIntervalOfAnEstimateSoFarHoldsTheEnergyAsOftenAsThatOfAnEnd) {
  MonitoredGpus bench{{"A100"}};
  Random random{7};
  const auto listening = bench.monitor->listen();
  draw_steps(bench, random, 2_s);
  int held_at_once = 0;
  int held_settled = 0;
  const auto holds = [&bench](const Measurement& m) {
    const auto& energy = m.gpu_energy.at(0).energy;
    return energy && abs(energy->value - bench.truth(m)) <= energy->uncertainty ? 1 : 0;
  };
  constexpr int windows = 30;
  constexpr int looks = 10;
  for (int window = 0; window < windows; ++window) {
    bench.monitor->begin("w");
    for (int look = 0; look < looks; ++look) {
      const Seconds until_the_look{0.02 + 0.3 * random.exponential()};
      draw_steps(bench, random, until_the_look);
      const Measurement at_once = bench.monitor->so_far("w");
      held_at_once += holds(at_once);
      draw_steps(bench, random, 0.3_s);
      held_settled += holds(bench.monitor->settle(at_once));
    }
    bench.monitor->cancel("w");
  }
  EXPECT_GE(held_at_once, 273);  // of 300: 95 % less three standard errors
  EXPECT_GE(held_settled, 273);
}

TEST(Monitor, AnEstimateSoFarNeitherSynchronizesNorIsLogged) {
  const test::TemporaryFolder folder;
  int calls = 0;
  MonitorOptions options;
  options.synchronize = [&] { ++calls; };
  options.log = folder.path() / "log.csv";
  MonitoredGpus bench{{"V100"}, options};
  bench.monitor->begin("w");
  bench.gpus[0]->energy_calls = 0;
  (void)bench.monitor->so_far("w");
  EXPECT_EQ(bench.gpus[0]->energy_calls, 1);
  EXPECT_EQ(calls, 1);
  std::ifstream log{options.log};
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>{log}, {}, '\n'), 1);
}

// Its end comes before the sampler has looked once.
TEST(Monitor, AWindowTooShortForAnyReadingIsZeroAtMostAsFarAsTheGpuCanDraw) {
  MonitoredGpus bench{{"A100"}};
  bench.gpus[0]->draw(200_W);
  bench.monitor->begin("w");
  const Measurement m = bench.monitor->end("w");
  EXPECT_EQ(m.time(), 0_s);
  const MeasuredEnergy& measured = m.gpu_energy.at(0);
  ASSERT_TRUE(measured.energy) << measured.reason;
  EXPECT_EQ(measured.energy->value, 0_J);
  EXPECT_EQ(measured.energy->uncertainty, 0_J);
  EXPECT_EQ(measured.energy->method, EnergyMethod::estimate);
  EXPECT_NE(measured.remark, "");
  bench.expect_truth(bench.monitor->settle(m));
}

TEST(GpuMeter, NoReadingBoundsAnEnergyOnlyForAMomentAndWhileNothingFails) {
  MonitoredGpus bench{{"A100"}};
  const measure::GpuMeter meter{bench.gpus[0]};
  const Instant now = bench.clock.now();
  const auto moment = meter.hardly_any_energy(now, now + 5_ms);
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->value, 0_J);
  EXPECT_EQ(moment->half_width, *bench.gpus[0]->power_limits().maximum.optional() * Seconds{5_ms});
  EXPECT_FALSE(meter.hardly_any_energy(now, now + 11_ms));
}

TEST(Monitor, AnEdgeIsOneDriverCallPerGpu) {
  MonitoredGpus bench{{"A100"}};
  measure::GpuMeter meter{bench.gpus[0]};
  bench.gpus[0]->energy_calls = 0;
  meter.mark();
  EXPECT_EQ(bench.gpus[0]->energy_calls, 1);
}

TEST(Monitor, AWindowObjectEndsWithItsScope) {
  MonitoredGpus bench{{"V100"}};
  {
    const auto window = bench.monitor->window("scope");
    EXPECT_EQ(kind_of([&] { bench.monitor->begin("scope"); }), ErrorKind::already_exists);
  }
  bench.monitor->begin("scope");
  auto other = bench.monitor->window("other");
  EXPECT_EQ(other.end().window, "other");
  bench.monitor->cancel("scope");
}

TEST(Monitor, AGpuThatIsNotMeasuredIsNamedWithItsModelAndThoseThatAre) {
  const MonitoredGpus bench{{"V100", "A100"}};
  MonitorOptions options;
  options.gpus = {{1}};
  const Monitor monitor = measure::monitor_of(bench.source, options);
  try {
    (void)monitor.power_timeline(0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), testing::MatchesRegex("GPU 0 \\(.*V100.*\\) is not measured by this monitor"));
    EXPECT_THAT(error.advice(), testing::MatchesRegex("it measures GPU 1 \\(.*A100.*\\)"));
  }
}

TEST(Monitor, MisuseIsOneErrorAndOtherWindowsGoOn) {
  MonitoredGpus bench{{"V100"}};
  Monitor& monitor = *bench.monitor;
  monitor.begin("kept");
  EXPECT_EQ(kind_of([&] { (void)monitor.end("never begun"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { monitor.begin("kept"); }), ErrorKind::already_exists);
  EXPECT_EQ(kind_of([&] { monitor.cancel("other"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { (void)monitor.power_timeline(7); }), ErrorKind::not_found);
  EXPECT_EQ(monitor.end("kept").window, "kept");
  MonitorOptions options;
  options.gpus = {{0, 4}};
  EXPECT_EQ(kind_of([&] { measure::Windows{bench.source, options}; }), ErrorKind::not_found);
  options.gpus.reset();
  options.cpus = {{0}};
  EXPECT_EQ(kind_of([&] { measure::Windows{bench.source, options}; }), ErrorKind::not_found);
}

TEST(Monitor, RestartAndResetForgetWhatWasOpen) {
  MonitoredGpus bench{{"V100"}};
  Monitor& monitor = *bench.monitor;
  monitor.begin("w");
  bench.pass(0.05_s);
  monitor.begin("w", true);
  bench.pass(0.02_s);
  EXPECT_NEAR(monitor.end("w").time().value(), 0.02, 1e-9);
  monitor.begin("w");
  monitor.reset();
  EXPECT_EQ(kind_of([&] { (void)monitor.end("w"); }), ErrorKind::not_found);
}

TEST(Monitor, SynchronizesBeforeEachEdge) {
  int calls = 0;
  MonitorOptions options;
  options.synchronize = [&] { ++calls; };
  MonitoredGpus bench{{"V100"}, options};
  bench.monitor->begin("w");
  EXPECT_EQ(calls, 1);
  (void)bench.monitor->end("w");
  EXPECT_EQ(calls, 2);
}

TEST(Monitor, AFailedSynchronizationDropsTheWindowAtEitherEdge) {
  MonitorOptions options;
  bool fail = true;
  options.synchronize = [&] {
    if (fail) {
      throw Error{ErrorKind::unavailable, "the stream failed", "look at its error"};
    }
  };
  MonitoredGpus bench{{"V100"}, options};
  EXPECT_THROW(bench.monitor->begin("w"), Error);
  fail = false;
  bench.monitor->begin("w");
  fail = true;
  EXPECT_EQ(kind_of([&] { (void)bench.monitor->end("w"); }), ErrorKind::unavailable);
  fail = false;
  EXPECT_EQ(kind_of([&] { (void)bench.monitor->end("w"); }), ErrorKind::not_found);
  { const Monitor::Window scope = bench.monitor->window("w"); }
  {
    const Monitor::Window scope = bench.monitor->window("w");
    fail = true;
  }
  fail = false;
  bench.monitor->begin("w");
  EXPECT_EQ(bench.monitor->end("w").window, "w");
}

TEST(Monitor, AFailedSynchronizationLeavesAWindowThatWasRestartedMeanwhile) {
  MonitorOptions options;
  std::function<void()> meanwhile = [] {};
  options.synchronize = [&] { std::exchange(meanwhile, [] {})(); };
  MonitoredGpus bench{{"V100"}, options};
  bench.monitor->begin("w");
  meanwhile = [&] {
    bench.monitor->begin("w", true);
    throw Error{ErrorKind::unavailable, "the stream failed", "look at its error"};
  };
  EXPECT_EQ(kind_of([&] { (void)bench.monitor->end("w"); }), ErrorKind::unavailable);
  EXPECT_EQ(bench.monitor->end("w").window, "w");
}

TEST(Monitor, TimelinesGrowWhileThereIsAListener) {
  MonitoredGpus bench{{"V100"}};
  bench.gpus[0]->draw(180_W);
  const auto listener = bench.monitor->listen();
  bench.pass(5_s);
  const auto powers = bench.monitor->power_timeline(0);
  ASSERT_GE(powers.size(), 130U);  // more than the driver's ring holds
  EXPECT_NEAR(powers.back().power.value(), 180, 1);
  EXPECT_TRUE(std::ranges::is_sorted(powers, {}, &PowerSample::at));
  EXPECT_FALSE(bench.monitor->temperature_timeline(0).empty());
}

TEST(Monitor, TheTimeInsideTheDriverIsCountedApart) {
  MonitoredGpus bench{{"V100"}};
  const auto listener = bench.monitor->listen();
  bench.pass(1_s);
  EXPECT_EQ(bench.monitor->sampler_cost().driver, Seconds{0});  // no time passes during a call of a simulated GPU
  bench.gpus[0]->stall_ms = 1;
  bench.gpus[0]->energy_calls = 0;
  bench.pass(1_s);
  const SamplerCost cost = bench.monitor->sampler_cost();
  EXPECT_GE(cost.driver, bench.gpus[0]->energy_calls * Seconds{1e-3});
  EXPECT_LT(cost.driver, 1_s);
  EXPECT_NEAR(cost.running.value(), 2, 1e-2);
}

TEST(Monitor, SaysWhenCounterAndSamplesDisagree) {
  MonitoredGpus bench{{"V100"}};
  bench.gpus[0]->draw(200_W);
  bench.gpus[0]->gain_of_samples = 1.4;
  const auto listener = bench.monitor->listen();
  bench.monitor->begin("w");
  bench.pass(1.0_s);
  const Measurement m = bench.monitor->settle(bench.monitor->end("w"));
  EXPECT_NE(m.gpu_energy.at(0).remark.find("the power samples"), std::string::npos) << m.gpu_energy.at(0).remark;
}

TEST(Monitor, ReadsOnlyWhatIsWatched) {
  MonitorOptions options;
  options.gpus = {1};
  MonitoredGpus bench{{"V100", "V100"}, options};
  {
    const auto listener = bench.monitor->listen();
    bench.pass(0.3_s);
  }
  EXPECT_EQ(bench.gpus[0]->energy_calls, 0);
  EXPECT_GT(bench.gpus[1]->energy_calls, 10);
  // The other one is needed by another monitor, while the sampler runs.
  Monitor other = measure::monitor_of(bench.source, MonitorOptions{.gpus = {{0}}, .cpus = {}});
  other.begin("w");
  bench.pass(0.3_s);
  EXPECT_GT(bench.gpus[0]->energy_calls, 10);
  bench.gpus[0]->draw(120_W);
  bench.pass(0.3_s);
  const Measurement m = other.settle(other.end("w"));
  bench.expect_truth(m);
}

// A counter that ticks five times as often beside it does not make a GPU read more often.
TEST(Monitor, ReadsEachGpuOnlyWhenItIsDue) {
  const auto reads_in_two_seconds = [](const std::vector<const char*>& models) {
    test::MonitoredGpus on{models};
    on.monitor->begin("window");
    on.pass(2_s);
    const int before = on.gpus[0]->energy_calls;
    on.pass(2_s);
    const int reads = on.gpus[0]->energy_calls - before;
    on.monitor->end("window");
    return reads;
  };
  EXPECT_LE(reads_in_two_seconds({"A100", "V100"}), 1.2 * reads_in_two_seconds({"A100"}));
}

TEST(Monitor, TheSamplerStopsAWhileAfterTheLastWindow) {
  MonitoredGpus bench{{"V100"}};
  const auto sampler = bench.source->sampler();
  EXPECT_FALSE(sampler->running());
  bench.monitor->begin("w");
  EXPECT_TRUE(sampler->running());
  (void)bench.monitor->end("w");
  bench.pass(measure::Sampler::linger - 0.1_s);
  EXPECT_TRUE(sampler->running());
  bench.pass(0.2_s);
  EXPECT_FALSE(sampler->running());
  bench.monitor->begin("w");
  EXPECT_TRUE(sampler->running());
  (void)bench.monitor->end("w");
  const Instant patience = bench.clock.now() + 20_s;
  while (sampler->running() && bench.clock.now() < patience) {
    bench.pass(0.05_s);
  }
  EXPECT_FALSE(sampler->running());
  bench.monitor->begin("w");
  EXPECT_TRUE(sampler->running());
}

// The sampler's own thread reads, settles, and leaves, without any call from outside.
TEST(MonitorInRealTime, AThreadFollowsTheWindowAndLeavesAWhileAfter) {
  MonitoredGpusInRealTime bench{{"V100"}};
  bench.gpus[0]->draw(200_W);
  bench.monitor->begin("w");
  bench.pass(0.1_s);
  const Measurement m = bench.monitor->settle(bench.monitor->end("w"), 60_s);
  EXPECT_TRUE(m.settled);
  ASSERT_TRUE(m.gpu_energy.at(0).energy)
      << m.gpu_energy.at(0).reason;  // other tests check the accuracy: this machine may be busy
  EXPECT_GT(m.gpu_energy.at(0).energy->value, 0_J);
  EXPECT_GT(bench.monitor->sampler_cost().busy, Seconds{0});
  const auto sampler = bench.source->sampler();
  const Instant patience = bench.clock.now() + 60_s;
  while (sampler->running() && bench.clock.now() < patience) {
    bench.pass(0.02_s);
  }
  EXPECT_FALSE(sampler->running());
}

TEST(MonitorInRealTime, ManyThreadsWithManyWindowsAllGetTheirOwn) {
  MonitoredGpusInRealTime bench{{"A100", "V100"}};
  bench.gpus[0]->draw(200_W);
  bench.gpus[1]->draw(100_W);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string name = fmt::format("{}/{}", t, i);
        bench.monitor->begin(name);
        EXPECT_EQ(bench.monitor->end(name).window, name);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(kind_of([&] { (void)bench.monitor->end("0/0"); }), ErrorKind::not_found);
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

TEST(WindowLog, HasTheExistingFormatAndACompleteOne) {
  const test::TemporaryFolder folder;
  MonitorOptions options;
  options.log = folder.path() / "sub" / "plain.csv";
  options.complete_log = folder.path() / "complete.csv";
  MonitoredGpus bench{{"V100"}, options};
  bench.monitor->begin("a,b");
  (void)bench.monitor->end("a,b");
  const std::string plain = content(options.log);
  EXPECT_TRUE(plain.starts_with("start_time,window_name,elapsed_time,gpu0_energy\n")) << plain;
  EXPECT_NE(plain.find(",\"a,b\","), std::string::npos) << plain;
  EXPECT_EQ(std::ranges::count(plain, '\n'), 2);
  const std::string complete = content(options.complete_log);
  EXPECT_TRUE(
      complete.starts_with("start_time,window_name,elapsed_time,gpu0_energy,gpu0_uncertainty,gpu0_method,"
                           "gpu0_power_capped_time,gpu0_thermal_time\n"))
      << complete;
}

TEST(WindowLog, AnUnwritableOneIsRefusedAndAFullOneStopsNothing) {
  MonitorOptions options;
  options.log = "/proc/nowhere/log.csv";
  EXPECT_NE(kind_of([&] { MonitoredGpus{{"V100"}, options}; }), ErrorKind::internal);
  options.log = "/dev/full";
  EXPECT_NE(kind_of([&] { MonitoredGpus{{"V100"}, options}; }), ErrorKind::internal);
}

// While it lives, no file can grow beyond a size. Like on a full disk, a line may be half-written.
class DiskThatFillsUp {
 public:
  explicit DiskThatFillsUp(rlim_t bytes) : former_signal_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit now{.rlim_cur = bytes, .rlim_max = former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  DiskThatFillsUp(const DiskThatFillsUp&) = delete;
  DiskThatFillsUp& operator=(const DiskThatFillsUp&) = delete;
  ~DiskThatFillsUp() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    (void)std::signal(SIGXFSZ, former_signal_);
  }

 private:
  rlimit former_{};
  void (*former_signal_)(int);
};

TEST(WindowLog, ADiskThatFillsUpIsOneErrorAndNoHalfLineAndWindowsGoOn) {
  const test::TemporaryFolder folder;
  std::vector<std::string> said;
  const log::ScopedSink sink{[&](log::Level, std::string_view line) { said.emplace_back(line); }};
  MonitorOptions options;
  options.log = folder.path() / "log.csv";
  MonitoredGpus bench{{"V100"}, options};
  const auto window = [&](const std::string& name) {
    bench.monitor->begin(name);
    EXPECT_EQ(bench.monitor->end(name).window, name);
  };
  {
    const DiskThatFillsUp full{1000};
    for (int i = 0; i < 100; ++i) {
      window(fmt::format("window {}", i));
    }
  }
  const std::string before = content(options.log);
  EXPECT_LE(before.size(), 1000U);
  EXPECT_TRUE(before.ends_with('\n')) << before;
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find(options.log.string()), std::string::npos) << said[0];
  // There is room again.
  window("later");
  const std::string after = content(options.log);
  EXPECT_NE(after.substr(before.size()).find(",later,"), std::string::npos) << after;
  EXPECT_EQ(std::ranges::count(after, '\n'), std::ranges::count(before, '\n') + 1);
}

}  // namespace
}  // namespace zeus
