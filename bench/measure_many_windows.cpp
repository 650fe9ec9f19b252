// A million windows from 16 threads while 10 000 others stay open: prints how long they took and what memory they left
// behind. Under the thread sanitizer, a check that nothing races.
//   measure_many_windows [WINDOWS]
#include "base/clock.hpp"
#include "measure/windows.hpp"
#include "physics/gpu_model.hpp"
#include "tests/support/simulated_gpu.hpp"

#include <zeus/measure.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>

namespace {

constexpr int thread_count = 16;
constexpr int open_count = 10'000;

long resident_kilobytes() {
  std::ifstream file{"/proc/self/statm"};
  long total = 0;
  long resident = 0;
  file >> total >> resident;
  return resident * 4;
}

void open_and_close(zeus::Monitor& monitor, int windows) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&monitor, t, windows] {
      for (int i = t; i < windows; i += thread_count) {
        const std::string name = fmt::format("window {}", i);
        monitor.begin(name);
        (void)monitor.end(name);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

int run(int argc, char** argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  zeus::SystemClock clock;
  const auto gpu = std::make_shared<zeus::test::SimulatedGpu>(zeus::physics::preset("A100"), clock);
  const auto source = std::make_shared<zeus::measure::SamplerSource>(zeus::measure::Sampler::Devices{{gpu}, {}}, clock);
  zeus::Monitor monitor = zeus::measure::monitor_of(source, zeus::MonitorOptions{});
  for (int i = 0; i < open_count; ++i) {
    monitor.begin(fmt::format("open {}", i));
  }
  open_and_close(monitor, windows / 10);
  const long before = resident_kilobytes();
  const zeus::Instant start = clock.now();
  open_and_close(monitor, windows);
  const zeus::Seconds took = clock.now() - start;
  fmt::print("  {} windows on {} threads beside {} open ones: {:.2f} s, resident memory {} -> {} kB\n", windows,
             thread_count, open_count, took.value(), before, resident_kilobytes());
  int known = 0;
  for (int i = 0; i < open_count; ++i) {
    known += monitor.end(fmt::format("open {}", i)).gpu_energy.at(0).energy ? 1 : 0;
  }
  fmt::print("  of those that were open all the time, {} have an energy\n", known);
  return known == open_count ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_many_windows: {}\n", error.what());
    return 1;
  }
}
