// Watches one GPU through NVML and prints what it saw; bench/gpu/experiments.py evaluates that. It reads, and never
// sets.
//
//   gpu_probe describe                       one line of JSON that identifies the GPU; exit code 3 if there is none
//   gpu_probe timeline SECONDS               lines "kind,seconds,value": e each move of the energy counter (joules),
//                                            p the instant power about each millisecond, a the average power if the
//                                            GPU has one, s the driver's own samples (watts), by their own timestamps
//   gpu_probe ring                           lines "s,seconds,value" of all samples that the driver has kept
//   gpu_probe latency THREADS CALLS          lines "call,p50_us,p99_us", with that many threads calling at once
//
// Times are those of the machine's monotonic clock. The GPU is the first one in NVML's list.

#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::device;

constexpr int exit_no_gpu = 3;
constexpr Seconds tick = 1_ms;

double seconds_of(Instant instant) {
  return static_cast<double>(instant.nanoseconds) * 1e-9;
}

void print(char kind, Instant at, double value) {
  fmt::print("{},{:.6f},{:.6f}\n", kind, seconds_of(at), value);
}

void describe(const Gpu& gpu) {
  const PowerLimits limits = gpu.power_limits();
  fmt::print(R"({{"name":"{}","uuid":"{}","pci":"{}","driver":"{}","limit_w":{},"maximum_w":{}}})"
             "\n",
             gpu.identity().name, gpu.identity().uuid, to_string(gpu.identity().pci), gpu.identity().driver,
             limits.enforced.optional().value_or(Watts{0}).value(),
             limits.maximum.optional().value_or(Watts{0}).value());
}

void print_samples(const Gpu& gpu, Instant since) {
  std::vector<Stamped<Watts>> samples;
  static_cast<void>(gpu.power_samples(since, samples));
  for (const Stamped<Watts>& sample : samples) {
    print('s', sample.at, sample.value.value());
  }
}

// Keeps everything and prints it afterwards: printing would disturb the measurement.
void watch(const Gpu& gpu, Clock& clock, Seconds duration) {
  struct Line {
    char kind;
    Instant at;
    double value;
  };
  std::vector<Line> lines;
  lines.reserve(static_cast<std::size_t>(duration.value() * 4000));
  const Instant start = clock.now();
  Instant sampled_until = start;
  std::vector<Stamped<Watts>> samples;
  std::optional<Joules> last;
  // Calls of a real driver may take longer than a tick.
  for (Instant next = start; next < start + duration; next = std::max(next + tick, clock.now())) {
    clock.sleep_until(next);
    if (const Reading<Stamped<Joules>> energy = gpu.energy(); energy && energy->value != last) {
      last = energy->value;
      lines.push_back({'e', energy->at, energy->value.value()});
    }
    for (const auto& [kind, letter] : {std::pair{PowerKind::instant, 'p'}, std::pair{PowerKind::average, 'a'}}) {
      if (const Reading<Stamped<Watts>> power = gpu.power(kind, PowerScope::gpu)) {
        lines.push_back({letter, power->at, power->value.value()});
      }
    }
    if (next - sampled_until > 1_s) {
      static_cast<void>(gpu.power_samples(sampled_until, samples));
      sampled_until = samples.empty() ? next : samples.back().at;
    }
  }
  static_cast<void>(gpu.power_samples(sampled_until, samples));
  for (const Line& line : lines) {
    print(line.kind, line.at, line.value);
  }
  for (const Stamped<Watts>& sample : samples) {
    print('s', sample.at, sample.value.value());
  }
}

struct Call {
  const char* name;
  std::function<void(const Gpu&)> make;
};

std::vector<Call> calls() {
  return {
      {"energy", [](const Gpu& gpu) { static_cast<void>(gpu.energy()); }},
      {"instant power", [](const Gpu& gpu) { static_cast<void>(gpu.power(PowerKind::instant, PowerScope::gpu)); }},
      {"average power", [](const Gpu& gpu) { static_cast<void>(gpu.power(PowerKind::average, PowerScope::gpu)); }},
      {"plain power", [](const Gpu& gpu) { static_cast<void>(gpu.power(PowerKind::plain, PowerScope::gpu)); }},
      {"temperature", [](const Gpu& gpu) { static_cast<void>(gpu.temperature()); }},
      {"utilization", [](const Gpu& gpu) { static_cast<void>(gpu.utilization()); }},
      {"throttle reasons", [](const Gpu& gpu) { static_cast<void>(gpu.throttle_reasons()); }},
      {"power limits (4 calls)", [](const Gpu& gpu) { static_cast<void>(gpu.power_limits()); }},
      {"clocks (5 calls)", [](const Gpu& gpu) { static_cast<void>(gpu.clocks()); }},
      {"throttle times (5 fields)", [](const Gpu& gpu) { static_cast<void>(gpu.throttle_times()); }},
      {"processes", [](const Gpu& gpu) { static_cast<void>(gpu.processes()); }},
  };
}

std::vector<double> time_calls(const Gpu& gpu, const Clock& clock, const Call& call, int count) {
  std::vector<double> microseconds;
  microseconds.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Instant before = clock.now();
    call.make(gpu);
    microseconds.push_back((clock.now() - before).value() * 1e6);
  }
  return microseconds;
}

void measure_latency(const Gpu& gpu, const Clock& clock, int thread_count, int count) {
  for (const Call& call : calls()) {
    std::vector<std::vector<double>> parts(static_cast<std::size_t>(thread_count));
    std::vector<std::thread> threads;
    for (std::vector<double>& part : parts) {
      threads.emplace_back([&] { part = time_calls(gpu, clock, call, count); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    std::vector<double> all;
    for (const std::vector<double>& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    std::ranges::sort(all);
    fmt::print("{},{:.3f},{:.3f}\n", call.name, all[all.size() / 2], all[all.size() * 99 / 100]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  SystemClock clock;
  const Discovery found = backends::nvml::NvmlBackend{clock}.discover();
  if (found.gpus.empty()) {
    return exit_no_gpu;
  }
  const Gpu& gpu = *found.gpus.front().gpu;
  if (arguments.size() == 1 && arguments[0] == "describe") {
    describe(gpu);
  } else if (arguments.size() == 2 && arguments[0] == "timeline") {
    watch(gpu, clock, Seconds{std::stod(arguments[1])});
  } else if (arguments.size() == 1 && arguments[0] == "ring") {
    print_samples(gpu, clock.now() - 3600_s);
  } else if (arguments.size() == 3 && arguments[0] == "latency") {
    measure_latency(gpu, clock, std::stoi(arguments[1]), std::stoi(arguments[2]));
  } else {
    fmt::print(stderr, "gpu_probe: describe | timeline SECONDS | ring | latency THREADS CALLS\n");
    return 2;
  }
  return 0;
}
