#include "tests/support/monitored_gpus.hpp"

#include <zeus/measure.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace zeus {
namespace {

using test::MonitoredGpus;
using test::MonitoredGpusInRealTime;

// One GPU at constant power.
struct SteadyGpu : MonitoredGpus {
  SteadyGpu() : MonitoredGpus{{"V100"}} { gpus[0]->draw(150_W); }

  test::SimulatedGpu& gpu() { return *gpus[0]; }
  // A window during which something happens.
  MeasuredEnergy window_around(const std::function<void()>& event) {
    monitor->begin("w");
    pass(0.15_s);
    event();
    pass(0.15_s);
    return monitor->settle(monitor->end("w")).gpu_energy.at(0);
  }
  void expect_recovery() {
    monitor->begin("after");
    pass(0.2_s);
    expect_truth(monitor->settle(monitor->end("after")));
  }
};

TEST(MonitorFaults, ACounterResetMakesTheWindowUnknown) {
  SteadyGpu bench;
  const MeasuredEnergy measured = bench.window_around([&] { bench.gpu().counter_offset = -1e6; });
  EXPECT_FALSE(measured.energy);
  EXPECT_NE(measured.reason.find("reset"), std::string::npos) << measured.reason;
  bench.expect_recovery();
}

TEST(MonitorFaults, ACounterThatJumpsAheadIsNoConsumption) {
  SteadyGpu bench;
  const MeasuredEnergy measured = bench.window_around([&] { bench.gpu().counter_offset = 1e6; });
  EXPECT_FALSE(measured.energy);
  bench.expect_recovery();
}

TEST(MonitorFaults, ADriverReloadMakesTheWindowUnknown) {
  SteadyGpu bench;
  const MeasuredEnergy measured = bench.window_around([&] { (void)bench.gpu().reopen(); });
  EXPECT_FALSE(measured.energy);
  EXPECT_NE(measured.reason.find("reopened"), std::string::npos) << measured.reason;
  bench.expect_recovery();
}

TEST(MonitorFaults, ALostGpuIsUnknownAndMeasuredAgainWhenItIsBack) {
  SteadyGpu bench;
  const MeasuredEnergy measured = bench.window_around([&] { bench.gpu().lost = true; });
  EXPECT_FALSE(measured.energy);
  EXPECT_NE(measured.reason.find("lost"), std::string::npos) << measured.reason;
  bench.gpu().lost = false;
  bench.pass(0.6_s);
  bench.expect_recovery();
}

TEST(MonitorFaults, AGpuThatWasAwayInTheMiddleOnlyIsUnknownAsWell) {
  SteadyGpu bench;
  const MeasuredEnergy measured = bench.window_around([&] {
    bench.gpu().lost = true;
    bench.pass(0.4_s);
    bench.gpu().lost = false;
    bench.pass(0.4_s);
  });
  EXPECT_FALSE(measured.energy);
}

TEST(MonitorFaults, PermissionDeniedSaysSo) {
  SteadyGpu bench;
  bench.gpu().denied = true;
  const MeasuredEnergy measured = bench.window_around([] {});
  EXPECT_FALSE(measured.energy);
  EXPECT_NE(measured.reason.find("permit"), std::string::npos) << measured.reason;
}

TEST(MonitorFaults, AFrozenCounterIsNoZero) {
  SteadyGpu bench;
  bench.monitor->begin("w");
  bench.pass(0.2_s);
  bench.gpu().freeze();
  bench.pass(1.4_s);
  const Measurement m = bench.monitor->end("w");
  const MeasuredEnergy& measured = m.gpu_energy.at(0);
  // Only the power samples are left, and the remark says so.
  ASSERT_TRUE(measured.energy) << measured.reason;
  EXPECT_EQ(measured.energy->method, EnergyMethod::estimate);
  EXPECT_NE(measured.remark.find("stands still"), std::string::npos) << measured.remark;
}

// For less than the second after which it counts as standing still; the power samples go on.
TEST(MonitorFaults, ACounterThatFailsLeavesAnIntervalThatHoldsWhatItDidNotSee) {
  for (const bool has_samples : {true, false}) {
    SteadyGpu bench;
    bench.gpu().draw(60_W);
    bench.pass(1_s);
    bench.monitor->begin("w");
    bench.pass(0.5_s);
    bench.gpu().counter_fails = true;
    bench.gpu().samples_fail = !has_samples;
    bench.gpu().draw(240_W);
    bench.pass(0.4_s);
    const Measurement m = bench.monitor->end("w");
    bench.expect_truth(m);
    if (has_samples) {
      EXPECT_LT(m.gpu_energy.at(0).energy->uncertainty.value(), 0.25 * bench.truth(m).value());
    }
  }
}

TEST(MonitorFaults, ASlowDriverDelaysAndBreaksNothing) {
  SteadyGpu bench;
  const auto listener = bench.monitor->listen();
  bench.pass(0.1_s);
  const MeasuredEnergy measured = bench.window_around([&] {
    bench.gpu().stall_ms = 100;
    bench.pass(0.3_s);
    bench.gpu().stall_ms = 0;
    bench.pass(0.1_s);
  });
  EXPECT_TRUE(measured.energy) << measured.reason;
}

TEST(MonitorFaults, ATotalOverAGpuThatVanishedIsUnknownAndSaysWhich) {
  MonitoredGpus bench{{"A100", "A100", "A100"}};
  bench.monitor->begin("w");
  bench.pass(0.2_s);
  bench.gpus[1]->lost = true;
  bench.pass(0.3_s);
  const Measurement m = bench.monitor->settle(bench.monitor->end("w"));
  EXPECT_TRUE(m.gpu_energy.at(0).energy && m.gpu_energy.at(2).energy);
  EXPECT_FALSE(m.total_gpu_energy().energy);
  EXPECT_EQ(m.total_gpu_energy().reason.rfind("GPU 1: the GPU was lost", 0), 0U) << m.total_gpu_energy().reason;
}

TEST(MonitorFaults, OneOfEightWithoutACounterLeavesATotalWithItsInterval) {
  std::vector<const char*> models(7, "A100");
  models.push_back("P100");
  MonitoredGpus bench{models};
  for (const auto& gpu : bench.gpus) {
    gpu->draw(200_W);
  }
  bench.pass(3_ms);
  bench.monitor->begin("w");
  bench.pass(0.4_s);
  const Measurement m = bench.monitor->settle(bench.monitor->end("w"));
  Joules truth;
  for (std::size_t gpu = 0; gpu < bench.gpus.size(); ++gpu) {
    truth += bench.truth(m, gpu);
  }
  const Energy total = *m.total_gpu_energy().energy;
  EXPECT_EQ(total.method, EnergyMethod::integrated);
  EXPECT_NEAR(total.value.value(), truth.value(), total.uncertainty.value());
  EXPECT_GE(total.uncertainty, m.gpu_energy.at(7).energy->uncertainty);
}

TEST(MonitorFaults, AWindowOfNoLengthHasATotalOrAReason) {
  MonitoredGpus bench{{"A100", "V100"}};
  for (int window = 0; window < 3; ++window) {
    bench.monitor->begin("w");
    const Measurement at_once = bench.monitor->end("w");
    for (const Measurement& m : {at_once, bench.monitor->settle(at_once)}) {
      const MeasuredEnergy total = m.total_gpu_energy();
      ASSERT_TRUE(total.energy || !total.reason.empty());
      if (total.energy) {
        EXPECT_EQ(total.energy->value, 0_J);
        EXPECT_GE(total.energy->uncertainty, 0_J);
      }
    }
    bench.pass(0.3_s);
  }
}

TEST(MonitorFaults, WithoutAnyDeviceWindowsAreTimesAlone) {
  MonitoredGpus bench{{}};
  bench.monitor->begin("w");
  const Measurement m = bench.monitor->settle(bench.monitor->end("w"));
  EXPECT_TRUE(m.gpu_energy.empty());
  EXPECT_FALSE(m.total_gpu_energy().energy);
  EXPECT_EQ(m.total_gpu_energy().reason, "no GPU is measured");
  EXPECT_TRUE(m.settled);
}

TEST(MonitorFaults, AStepOfCivilTimeChangesNoDuration) {
  VirtualClock clock{Instant{5'000'000'000}};
  auto source = std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{}, clock);
  Monitor monitor = measure::monitor_of(source, MonitorOptions{});
  monitor.begin("w");
  clock.step_wall(Seconds{-3600});
  clock.advance(2_s);
  const Measurement m = monitor.end("w");
  EXPECT_NEAR(m.time().value(), 2.0, 1e-9);
}

// The child of a fork; exits with 0 when all of its expectations held.
int exit_code_of_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(MonitorForksInRealTime, InAForkedChildOpenWindowsAreUnknownAndNewOnesWork) {
  MonitoredGpusInRealTime bench{{"V100"}};
  bench.monitor->begin("open");
  bench.pass(0.1_s);
  const int code = exit_code_of_child([&] {
    bool unknown = true;
    for (const Measurement& open : {bench.monitor->so_far("open"), bench.monitor->end("open")}) {
      const MeasuredEnergy& measured = open.gpu_energy.at(0);
      unknown = unknown && !measured.energy && measured.reason.find("forked") != std::string::npos;
    }
    bench.monitor->begin("new");
    bench.pass(0.2_s);
    const Measurement fresh = bench.monitor->settle(bench.monitor->end("new"));
    bench.monitor.reset();
    return unknown && bench.gpus[0]->reopened == 1 && fresh.gpu_energy.at(0).energy.has_value();
  });
  EXPECT_EQ(code, 0);
  bench.pass(0.1_s);
  const Measurement parents = bench.monitor->settle(bench.monitor->end("open"));
  EXPECT_TRUE(parents.gpu_energy.at(0).energy) << parents.gpu_energy.at(0).reason;
}

TEST(MonitorForksInRealTime, AForkWhileTheSamplerIsInsideTheDriverHangsNeitherProcess) {
  MonitoredGpusInRealTime bench{{"V100"}};
  bench.gpus[0]->stall_ms = 300;
  bench.monitor->begin("open");
  bench.pass(0.1_s);  // the sampler sits in a call
  const int code = exit_code_of_child([&] {
    bench.gpus[0]->stall_ms = 0;
    (void)bench.monitor->end("open");
    bench.monitor->begin("new");
    return bench.monitor->end("new").window == "new";
  });
  EXPECT_EQ(code, 0);
  bench.gpus[0]->stall_ms = 0;
  EXPECT_EQ(bench.monitor->end("open").window, "open");
}

TEST(MonitorForksInRealTime, ForksDuringOpenWindowsOfOtherThreadsHangNeitherProcess) {
  MonitoredGpusInRealTime bench{{"V100"}};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const std::string name = std::to_string(t) + "/" + std::to_string(i);
        bench.monitor->begin(name);
        (void)bench.monitor->end(name);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(exit_code_of_child([&] {
                bench.monitor->begin("child's");
                return bench.monitor->end("child's").window == "child's";
              }),
              0);
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// A CPU counter as the kernel shows it, which wraps wherever the test wants it to.
class WrappingCpu final : public device::CpuPackage {
 public:
  explicit WrappingCpu(const Clock& clock) : clock_{clock} {}
  static constexpr double range = 262'144;

  double spent = 0;  // joules since the test began
  double start = 0;  // the counter's value at that time
  Seconds late{0};   // how much later each reading is taken

  [[nodiscard]] const device::CpuIdentity& identity() const override { return identity_; }
  Reading<device::EnergyCounter> energy_counter(device::CpuDomain domain) const override {
    if (domain == device::CpuDomain::dram) {
      return Reason::unsupported;
    }
    return device::EnergyCounter{.resolution = Joules{1e-6}, .wraps_at = Joules{range}, .scope = PowerScope::package};
  }
  Reading<device::Stamped<Joules>> energy(device::CpuDomain /*domain*/) const override {
    return device::Stamped<Joules>{Joules{std::fmod(start + spent, range)}, clock_.now() + late, Seconds{0}};
  }
  device::Outcome reopen() override { return device::done; }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }

 private:
  const Clock& clock_;
  device::CpuIdentity identity_;
};

TEST(CpuMeter, AWrapIsExactWhereverItFalls) {
  VirtualClock clock;
  // The counter wraps just before the window, on either edge, inside it, or just after: the window still has 6 J.
  for (const double before_wrap : {-1.0, 0.0, 1e-6, 3.0, 5.999999, 6.0, 7.0}) {
    WrappingCpu* const cpu = new WrappingCpu{clock};
    cpu->start = WrappingCpu::range - before_wrap;
    measure::CpuMeter meter{std::shared_ptr<device::CpuPackage>{cpu}, device::CpuDomain::package};
    (void)meter.mark();
    const auto begin = meter.mark();
    clock.advance(1_s);
    cpu->spent += 6;
    const auto end = meter.mark();
    EXPECT_NEAR((*end.total - *begin.total).value(), 6.0, 1e-6) << before_wrap;
    EXPECT_EQ(begin.breaks, end.breaks);
  }
}

TEST(CpuMeter, ManyWrapsWithinAWindowAreAllCounted) {
  VirtualClock clock;
  auto cpu = std::make_shared<WrappingCpu>(clock);
  measure::CpuMeter meter{cpu, device::CpuDomain::package};
  const auto begin = meter.mark();
  for (int i = 0; i < 1000; ++i) {
    clock.advance(10_s);
    cpu->spent += 3000;
    (void)meter.poll(clock.now());
  }
  EXPECT_NEAR((*meter.mark().total - *begin.total).value(), 3e6, 1e-3);
}

// As in many virtual machines.
TEST(CpuMeter, ACounterThatStandsStillIsUnknownRatherThanZero) {
  VirtualClock clock;
  const auto cpu = std::make_shared<WrappingCpu>(clock);
  measure::Sampler::Devices devices;
  devices.cpus.push_back(cpu);
  Monitor monitor = measure::monitor_of(
      std::make_shared<measure::SamplerSource>(devices, clock, measure::Sampler::Polled::by_caller), {});
  monitor.begin("window");
  clock.advance(50_ms);
  EXPECT_TRUE(monitor.so_far("window").cpu_energy.at(0).energy) << "it may be about to move";
  clock.advance(1_s);
  const MeasuredEnergy still = monitor.end("window").cpu_energy.at(0);
  EXPECT_FALSE(still.energy);
  EXPECT_EQ(still.reason, "the energy counter stands still");
}

// As through a daemon that is busy with other requests.
TEST(CpuMeter, AReadingThatComesLateWidensTheInterval) {
  VirtualClock clock;
  const auto cpu = std::make_shared<WrappingCpu>(clock);
  measure::Sampler::Devices devices;
  devices.cpus.push_back(cpu);
  Monitor monitor = measure::monitor_of(
      std::make_shared<measure::SamplerSource>(devices, clock, measure::Sampler::Polled::by_caller), {});
  // 100 W, read 5 ms after the window began, and when it ends.
  cpu->late = 5_ms;
  cpu->spent = 0.5;
  monitor.begin("window");
  clock.advance(1_s);
  cpu->late = 0_s;
  cpu->spent = 100;
  const MeasuredEnergy measured = monitor.end("window").cpu_energy.at(0);
  ASSERT_TRUE(measured.energy) << measured.reason;
  EXPECT_NEAR(measured.energy->value.value(), 100.0, measured.energy->uncertainty.value());
  EXPECT_LT(measured.energy->uncertainty, 1_J);
}

}  // namespace
}  // namespace zeus
