// The cost of a call into the virtual NVML, so that other programs' overhead can be measured on it: each kind of read,
// without contention, on the built library, opened as a client does. The promise is under a microsecond. The reference
// is the minimum for any reading: one read of the monotonic clock.

#include "abi/nvml/nvml_abi.hpp"
#include "base/clock.hpp"
#include "base/dynamic_library.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/session.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include <unistd.h>

namespace {

using zeus::abi::nvml::ClockType;
using zeus::abi::nvml::Code;
using zeus::abi::nvml::Device;
using zeus::drivers::Session;

struct Client {
  static Client& instance() {
    static Client client;
    return client;
  }

  zeus::SystemClock clock;
  Session session = Session::create(
      {.gpus = zeus::drivers::parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  zeus::DynamicLibrary library = open();
  Device* device = nullptr;

 private:
  Client() {
    using zeus::physics::Demand;
    session.set_load(0,
                     zeus::physics::Load::square(Demand::of_power(zeus::Watts{80}), Demand::of_power(zeus::Watts{240}),
                                                 zeus::Seconds{0.2}, session.now()),
                     ::getpid());
    library.function<Code()>({"nvmlInit_v2"})();
    library.function<Code(unsigned, Device**)>({"nvmlDeviceGetHandleByIndex_v2"})(0, &device);
  }
  zeus::DynamicLibrary open() const {
    ::setenv(zeus::drivers::session_variable, session.reference().c_str(), 1);
    const std::string name = ZEUS_NVML_LIBRARY;
    return *zeus::DynamicLibrary::open({&name, 1});
  }
};

template <typename Value>
void read_value(benchmark::State& state, const char* name) {
  const Client& client = Client::instance();
  auto* const function = client.library.function<Code(Device*, Value*)>({name});
  Value value{};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(function(client.device, &value));
  }
}

void read_clock(benchmark::State& state) {
  const Client& client = Client::instance();
  auto* const function = client.library.function<Code(Device*, ClockType, unsigned*)>({"nvmlDeviceGetClockInfo"});
  unsigned value = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(function(client.device, ClockType::sm, &value));
  }
}

void look_at_clock(benchmark::State& state) {
  const zeus::SystemClock clock;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(clock.now());
  }
}

const auto energy = read_value<unsigned long long>;
const auto number = read_value<unsigned>;

BENCHMARK_CAPTURE(energy, _, "nvmlDeviceGetTotalEnergyConsumption")->Name("read_energy/ours");
BENCHMARK(look_at_clock)->Name("read_energy/yardstick");
BENCHMARK_CAPTURE(number, _, "nvmlDeviceGetPowerUsage")->Name("read_power/ours");
BENCHMARK(look_at_clock)->Name("read_power/yardstick");
BENCHMARK_CAPTURE(number, _, "nvmlDeviceGetEnforcedPowerLimit")->Name("read_limit/ours");
BENCHMARK(look_at_clock)->Name("read_limit/yardstick");
BENCHMARK(read_clock)->Name("read_clock/ours");
BENCHMARK(look_at_clock)->Name("read_clock/yardstick");

}  // namespace
