// The back-end against a handwritten table of calls: the answers of old, broken or busy drivers. tests/conformance
// shows that it agrees with a driver that works.
#include "backends/nvml/nvml_backend.hpp"

#include "backends/nvml/ask.hpp"

#include "backends/nvml/nvml_library.hpp"
#include "base/clock.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace zeus::backends::nvml {
namespace {

using device::Discovery;
using device::GpuFeature;

// What the calls below answer from; made again for each test.
struct Driver {
  int inits = 0;
  int shutdowns = 0;
  abi::Code init_code = abi::Code::success;
  unsigned gpus = 2;
  std::map<unsigned, abi::Code> open_codes;
  abi::Code energy_code = abi::Code::success;
  unsigned long long millijoules = 1'234'567;
  std::map<std::pair<std::uint32_t, std::uint32_t>, abi::FieldValue> fields;
  std::vector<abi::Sample> ring;
  unsigned limit_milliwatts = 300'000;
  unsigned mig_enabled = 0;
  std::vector<abi::ProcessInfo> processes;
};

Driver driver;

abi::Device* handle_of(std::uintptr_t index) {
  return reinterpret_cast<abi::Device*>(index + 1);  // NOLINT(performance-no-int-to-ptr): a handle is opaque
}

abi::Code write_text(const std::string& content, char* text, unsigned length) {
  std::strncpy(text, content.c_str(), length);
  return abi::Code::success;
}

abi::Code read_field(abi::FieldValue& value) {
  const auto found = driver.fields.find({value.field, value.scope});
  if (found == driver.fields.end()) {
    value.result = abi::Code::not_supported;
    return abi::Code::success;
  }
  const abi::FieldValue asked = value;
  value = found->second;
  value.field = asked.field;
  value.scope = asked.scope;
  return abi::Code::success;
}

Functions identity_calls() {
  Functions table;
  table.init = [] {
    ++driver.inits;
    return driver.init_code;
  };
  table.shutdown = [] {
    ++driver.shutdowns;
    return abi::Code::success;
  };
  table.driver_version = [](char* text, unsigned length) { return write_text("550.54.15", text, length); };
  table.library_version = [](char* text, unsigned length) { return write_text("12.550.54.15", text, length); };
  table.device_count = [](unsigned* count) {
    *count = driver.gpus;
    return abi::Code::success;
  };
  table.device_by_index = [](unsigned index, abi::Device** handle) {
    *handle = handle_of(index);
    return driver.open_codes.contains(index) ? driver.open_codes[index] : abi::Code::success;
  };
  table.uuid = [](abi::Device* handle, char* text, unsigned length) {
    return write_text(fmt::format("GPU-0000000A-{}", reinterpret_cast<std::uintptr_t>(handle)), text, length);
  };
  table.name = [](abi::Device*, char* text, unsigned length) {
    return write_text("Tesla V100-SXM2-32GB", text, length);
  };
  return table;
}

Functions working_calls() {
  Functions table = identity_calls();
  table.total_energy = [](abi::Device*, unsigned long long* millijoules) {
    *millijoules = driver.millijoules;
    return driver.energy_code;
  };
  table.field_values = [](abi::Device*, int count, abi::FieldValue* values) {
    return count == 1 ? read_field(values[0]) : abi::Code::invalid_argument;
  };
  table.samples = [](abi::Device*, abi::SampleType, unsigned long long last_seen, abi::ValueType* type, unsigned* count,
                     abi::Sample* samples) -> abi::Code {
    *type = abi::ValueType::uint32;
    if (samples != nullptr) {
      std::ranges::copy(driver.ring, samples);
    }
    *count = static_cast<unsigned>(driver.ring.size());
    static_cast<void>(last_seen);  // real drivers return the whole ring now and then
    return driver.ring.empty() ? abi::Code::not_found : abi::Code::success;
  };
  table.power_limit = [](abi::Device*, unsigned* milliwatts) {
    *milliwatts = driver.limit_milliwatts;
    return abi::Code::success;
  };
  table.set_power_limit = [](abi::Device*, unsigned milliwatts) -> abi::Code {
    if (milliwatts > 300'000) {
      return abi::Code::invalid_argument;
    }
    driver.limit_milliwatts = milliwatts;
    return abi::Code::success;
  };
  table.compute_processes = [](abi::Device*, unsigned* count, abi::ProcessInfo* entries) -> abi::Code {
    const auto present = static_cast<unsigned>(driver.processes.size());
    const bool fits = *count >= present;
    *count = present;
    if (fits && present > 0) {
      std::ranges::copy(driver.processes, entries);
    }
    return fits ? abi::Code::success : abi::Code::insufficient_size;
  };
  table.mig_mode = [](abi::Device*, unsigned* current, unsigned* pending) {
    *current = driver.mig_enabled;
    *pending = *current;
    return abi::Code::success;
  };
  table.mig_capacity = [](abi::Device*, unsigned* count) {
    *count = 7;
    return abi::Code::success;
  };
  table.mig_by_index = [](abi::Device*, unsigned index, abi::Device** slice) -> abi::Code {
    *slice = handle_of(100 + index);
    return index == 0 || index == 3 ? abi::Code::success : abi::Code::not_found;
  };
  return table;
}

class NvmlBackendTest : public ::testing::Test {
 protected:
  NvmlBackendTest() : clock_{Instant{5'000'000'000}, WallTime{1'700'000'000'000'000}} { driver = {}; }

  Discovery discover(const Functions& table = working_calls()) {
    return discover_in(std::make_shared<NvmlLibrary>(table, std::nullopt, clock_));
  }
  static void set_field(std::uint32_t field, abi::PowerScope scope, unsigned number, std::int64_t stamp) {
    abi::FieldValue value;
    value.timestamp_us = stamp;
    value.latency_us = 40;
    value.type = abi::ValueType::uint32;
    value.value.uint32 = number;
    driver.fields[{field, static_cast<std::uint32_t>(scope)}] = value;
  }

  VirtualClock clock_;
};

TEST_F(NvmlBackendTest, AMachineWithoutTheLibraryHasNoGpuAndReportsHowToGetIt) {
  const Discovery found = NvmlBackend{clock_, {"libno-such-library.so.1"}}.discover();
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_TRUE(found.problems.empty());
  ASSERT_TRUE(found.absence);
  EXPECT_NE(found.absence->fix.find("--gpus all"), std::string::npos);
}

TEST_F(NvmlBackendTest, ALibraryThatIsNotNvidiasIsOneProblem) {
  const Discovery found = NvmlBackend{clock_, {"libc.so.6"}}.discover();
  EXPECT_TRUE(found.gpus.empty());
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].what, "its library libc.so.6 lacks calls that every version has had");
}

TEST_F(NvmlBackendTest, AnOldLibraryDoesWhatItCan) {
  Functions old = identity_calls();
  old.power_limit = working_calls().power_limit;
  const Discovery found = discover(old);
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_TRUE(found.problems.empty());
  const device::Gpu& gpu = *found.gpus[0].gpu;
  EXPECT_EQ(*gpu.power_limits().current, 300_W);
  EXPECT_EQ(gpu.energy().failure().reason, Reason::unsupported);
  EXPECT_EQ(gpu.energy_counter().failure().detail, "the driver's library is too old for this");
  for (std::size_t i = 0; i < device::gpu_feature_count; ++i) {
    const auto feature = static_cast<GpuFeature>(i);
    EXPECT_EQ(gpu.features().has(feature), feature == GpuFeature::power_limits) << to_string(feature);
  }
  EXPECT_EQ(found.gpus[0].control->lock_clocks(ClockDomain::graphics, {1_MHz, 2_MHz}).failure().reason,
            Reason::unsupported);
}

TEST_F(NvmlBackendTest, ALibraryThatDoesNotStartIsAProblemWithItsFix) {
  const std::vector<std::pair<abi::Code, const char*>> cases{{abi::Code::driver_not_loaded, "modprobe nvidia"},
                                                             {abi::Code::library_mismatch, "restart the machine"},
                                                             {abi::Code::no_permission, "/dev/nvidiactl"},
                                                             {abi::Code::unknown, "nvidia-smi"}};
  for (const auto& [code, fix] : cases) {
    driver.init_code = code;
    const Discovery found = discover();
    EXPECT_TRUE(found.gpus.empty());
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_NE(found.problems[0].fix.find(fix), std::string::npos) << found.problems[0].fix;
  }
  EXPECT_EQ(driver.shutdowns, 0) << "what was not started is not shut down";
}

TEST_F(NvmlBackendTest, AGpuThatCannotBeOpenedLeavesTheOthersAlone) {
  driver.gpus = 3;
  driver.open_codes = {{0, abi::Code::gpu_is_lost}, {2, abi::Code::no_permission}};
  const Discovery found = discover();
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].gpu->identity().index, 1);
  ASSERT_EQ(found.problems.size(), 2U);
  EXPECT_EQ(found.problems[0].device, "GPU 0");
  EXPECT_NE(found.problems[1].fix.find("/dev/nvidia2"), std::string::npos);
}

TEST_F(NvmlBackendTest, TheIdentityComesFromTheDriver) {
  const Discovery found = discover();
  EXPECT_EQ(found.summary, "driver 550.54.15, NVML 12.550.54.15");
  const device::GpuIdentity& identity = found.gpus.at(1).gpu->identity();
  EXPECT_EQ(identity.uuid, "GPU-0000000a-2");
  EXPECT_EQ(identity.name, "Tesla V100-SXM2-32GB");
  EXPECT_EQ(identity.driver, "550.54.15");
}

TEST_F(NvmlBackendTest, TheCounterIsReadFromFieldsIfItsCallIsUnsupported) {
  EXPECT_DOUBLE_EQ(discover().gpus[0].gpu->energy()->value.value(), 1234.567);
  EXPECT_EQ(discover().gpus[0].gpu->energy_counter()->scope, PowerScope::gpu);
  driver.energy_code = abi::Code::not_supported;
  set_field(abi::field::total_energy, abi::PowerScope::gpu, 777'000, clock_.wall().microseconds_since_epoch);
  const Discovery found = discover();
  EXPECT_DOUBLE_EQ(found.gpus[0].gpu->energy()->value.value(), 777);
  driver.fields.clear();
  const Discovery without = discover();
  EXPECT_EQ(without.gpus[0].gpu->energy().failure().reason, Reason::unsupported);
  EXPECT_FALSE(without.gpus[0].gpu->features().has(GpuFeature::energy_counter));
}

TEST_F(NvmlBackendTest, AFieldKeepsItsOwnTimeAndAnImpossibleOneIsReplaced) {
  const std::int64_t now = clock_.wall().microseconds_since_epoch;
  const Discovery found = discover();
  const device::Gpu& gpu = *found.gpus[0].gpu;
  set_field(abi::field::power_instant, abi::PowerScope::gpu, 250'500, now - 80'000);
  const auto stamped = gpu.power(PowerKind::instant, PowerScope::gpu);
  ASSERT_TRUE(stamped);
  EXPECT_DOUBLE_EQ(stamped->value.value(), 250.5);
  EXPECT_EQ(stamped->at, clock_.now() - 80_ms);
  EXPECT_DOUBLE_EQ(stamped->latency.value(), 40e-6);
  for (const std::int64_t impossible : {std::int64_t{0}, now + 1'000'000, now - 60'000'000}) {
    set_field(abi::field::power_instant, abi::PowerScope::gpu, 250'500, impossible);
    EXPECT_EQ(gpu.power(PowerKind::instant, PowerScope::gpu)->at, clock_.now()) << impossible;
  }
}

TEST_F(NvmlBackendTest, SeparatesScopesAndReportsZeroMemoryPowerAsUnsupported) {
  const std::int64_t now = clock_.wall().microseconds_since_epoch;
  set_field(abi::field::power_average, abi::PowerScope::gpu, 100'000, now);
  set_field(abi::field::power_average, abi::PowerScope::module, 600'000, now);
  set_field(abi::field::power_average, abi::PowerScope::memory, 0, now);
  const Discovery found = discover();
  const device::Gpu& gpu = *found.gpus[0].gpu;
  EXPECT_EQ(gpu.power(PowerKind::average, PowerScope::gpu)->value, 100_W);
  EXPECT_EQ(gpu.power(PowerKind::average, PowerScope::module)->value, 600_W);
  EXPECT_EQ(gpu.power(PowerKind::average, PowerScope::memory).failure().reason, Reason::unsupported);
  EXPECT_FALSE(gpu.features().has(GpuFeature::instant_power));
  EXPECT_TRUE(gpu.features().has(GpuFeature::module_average_power));
  EXPECT_EQ(gpu.energy_counter()->scope, PowerScope::module) << "the counter of a superchip is its module's";
}

TEST_F(NvmlBackendTest, SamplesComeInOrderAndOnlyThoseThatAreNew) {
  const std::int64_t now = clock_.wall().microseconds_since_epoch;
  for (const std::int64_t age : {20'000, 60'000, 40'000}) {
    abi::Sample sample;
    sample.timestamp_us = static_cast<std::uint64_t>(now - age);
    sample.value.uint32 = static_cast<std::uint32_t>(age);
    driver.ring.push_back(sample);
  }
  const Discovery found = discover();
  std::vector<device::Stamped<Watts>> samples;
  ASSERT_TRUE(found.gpus[0].gpu->power_samples(clock_.now() - 50_ms, samples));
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].at, clock_.now() - 40_ms);
  EXPECT_EQ(samples[1].at, clock_.now() - 20_ms);
  EXPECT_DOUBLE_EQ(samples[1].value.value(), 20);
  driver.ring.clear();
  EXPECT_TRUE(found.gpus[0].gpu->power_samples(clock_.now(), samples)) << "nothing new is no failure";
  EXPECT_EQ(samples.size(), 2U);
}

TEST_F(NvmlBackendTest, EveryReadingOfALostGpuReportsTheLoss) {
  const Discovery found = discover();
  driver.energy_code = abi::Code::gpu_is_lost;
  EXPECT_EQ(found.gpus[0].gpu->energy().failure(), (Failure{Reason::lost, "the GPU has fallen off the bus"}));
}

TEST_F(NvmlBackendTest, ReopeningOpensTheLibraryOnceForAllItsGpus) {
  {
    const Discovery found = discover();
    EXPECT_EQ(driver.inits, 1);
    ASSERT_TRUE(found.gpus[0].gpu->reopen());
    EXPECT_EQ(found.gpus[0].gpu->generation(), 1U);
    EXPECT_EQ(found.gpus[1].gpu->generation(), 0U);
    ASSERT_TRUE(found.gpus[1].gpu->reopen());
    EXPECT_EQ(found.gpus[1].gpu->generation(), 1U);
    EXPECT_EQ(driver.inits, 2);
    EXPECT_EQ(driver.shutdowns, 1);

    driver.init_code = abi::Code::driver_not_loaded;
    EXPECT_EQ(found.gpus[0].gpu->reopen().failure().reason, Reason::lost);
    EXPECT_EQ(found.gpus[0].gpu->generation(), 1U);
    driver.init_code = abi::Code::success;
    EXPECT_TRUE(found.gpus[0].gpu->reopen());
  }
  EXPECT_EQ(driver.shutdowns, 3) << "as often as it was opened, the last time by the last GPU";
}

TEST_F(NvmlBackendTest, ALimitOutsideOfTheRangeIsRefusedAsSuch) {
  const Discovery found = discover();
  device::GpuControl& control = *found.gpus[0].control;
  EXPECT_TRUE(control.set_power_limit(Watts{123.4567}));
  EXPECT_EQ(driver.limit_milliwatts, 123'457U);
  for (const double limit : {300.001, -1.0, 1e12, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(control.set_power_limit(Watts{limit}).failure().reason, Reason::out_of_range) << limit;
  }
  EXPECT_EQ(driver.limit_milliwatts, 123'457U);
}

TEST_F(NvmlBackendTest, ProcessesAreListedHoweverManyThereAre) {
  const Discovery found = discover();
  EXPECT_TRUE(found.gpus[0].gpu->processes()->empty());
  for (std::uint32_t pid = 1; pid <= 50; ++pid) {
    driver.processes.push_back({pid, pid == 1 ? abi::no_memory_told : 1024, abi::no_instance, abi::no_instance});
  }
  const std::vector<device::GpuProcess> processes = *found.gpus[0].gpu->processes();
  ASSERT_EQ(processes.size(), 50U);
  EXPECT_EQ(processes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(processes[49].memory_bytes, 1024U);
  EXPECT_EQ(processes[49].gpu_instance, std::nullopt);
}

TEST_F(NvmlBackendTest, ListsTheSlicesOfAPartitionedGpuAndWhatCannotBeMeasured) {
  driver.gpus = 1;
  driver.mig_enabled = 1;
  const Discovery found = discover();
  const device::MigState mig = *found.gpus[0].gpu->mig();
  EXPECT_TRUE(mig.enabled);
  ASSERT_EQ(mig.instances.size(), 2U) << "numbers of slices leave gaps";
  EXPECT_EQ(mig.instances[0].uuid, "GPU-0000000A-101");
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_NE(found.problems[0].what.find("only for the whole GPU, not for its 2 slices"), std::string::npos);
}

// At first, each reader is held up between the two clocks.
class ClockOfABusyMachine final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return time_.now(); }
  [[nodiscard]] WallTime wall() const override {
    const WallTime civil = time_.wall();
    if (holds_up_ > 0) {
      --holds_up_;
      time_.advance(5_ms);
    }
    return civil;
  }
  void sleep_until(Instant deadline) override { time_.sleep_until(deadline); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) override {
    time_.wait_until(lock, condition, deadline);
  }

 private:
  mutable VirtualClock time_{Instant{1'000'000'000}, WallTime{1'700'000'000'000'000}};
  mutable int holds_up_ = 3;
};

TEST(TwoClocks, AreReadAtOneMomentThoughTheReaderIsHeldUp) {
  const ClockOfABusyMachine clock;
  const TwoClocks both{clock};
  EXPECT_EQ(both.now.nanoseconds / 1000 - 1'000'000, both.wall.microseconds_since_epoch - 1'700'000'000'000'000);
  EXPECT_EQ(both.now, clock.now());
}

}  // namespace
}  // namespace zeus::backends::nvml
