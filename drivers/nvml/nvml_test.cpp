// The virtual NVML from a client's side: the built library, opened at run time.

#include "tests/support/driver_client.hpp"

#include "abi/nvml/nvml_abi.hpp"
#include "drivers/session/forked_child.hpp"
#include "drivers/session/session.hpp"
#include "drivers/session/zeus_virtual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace zeus::drivers::nvml {
namespace {

using namespace abi::nvml;  // NOLINT(google-build-using-namespace): what a driver is made of
using namespace zeus::literals;

constexpr unsigned p100 = 0;
constexpr unsigned v100 = 1;
constexpr unsigned a100 = 2;
constexpr unsigned h100 = 3;

test::DriverClient& client() {
  static test::DriverClient client{"1xP100,1xV100,1xA100,1xH100", ZEUS_NVML_LIBRARY};
  return client;
}

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    session().clear_faults();
    session().set_clock_running(false);
    ASSERT_EQ(call("nvmlInit_v2"), Code::success);
    for (unsigned i = 0; i < devices_.size(); ++i) {
      ASSERT_EQ((call("nvmlDeviceGetHandleByIndex_v2", i, &devices_[i])), Code::success);
      session().set_load(i, physics::Load::constant(physics::Demand::none()), ::getpid());
      session().change_controls(
          i, [&](physics::Controls& controls) { controls = physics::Controls::defaults(session().model(i)); });
    }
    pass(60_s);
  }
  void TearDown() override { EXPECT_EQ(call("nvmlShutdown"), Code::success); }

  static Session& session() { return client().session; }
  static void pass(Seconds time) { session().advance_clock(time); }
  template <typename... Arguments>
  static Code call(const char* name, Arguments... arguments) {
    return client().call(Code::function_not_found, name, arguments...);
  }
  unsigned number(const char* name, unsigned device) {
    unsigned value = 0;
    EXPECT_EQ(call(name, devices_[device], &value), Code::success) << name;
    return value;
  }
  void load(unsigned device, const char* text) {
    auto* const submit = client().library.function<int(unsigned, const char*)>({"zeus_virtual_submit_load"});
    ASSERT_EQ(submit(device, text), ZEUS_VIRTUAL_OK);
  }

  std::array<Device*, 4> devices_{};
};

TEST_F(Nvml, ListsItsGpusByEveryKindOfName) {
  unsigned count = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Code::success);
  EXPECT_EQ(count, 4U);
  for (Device* const device : devices_) {
    std::array<char, 96> text{};
    Device* found = nullptr;
    ASSERT_EQ((call("nvmlDeviceGetUUID", device, text.data(), 96U)), Code::success);
    EXPECT_EQ((call("nvmlDeviceGetHandleByUUID", static_cast<const char*>(text.data()), &found)), Code::success);
    EXPECT_EQ(found, device);
    PciInfo pci{};
    ASSERT_EQ((call("nvmlDeviceGetPciInfo_v3", device, &pci)), Code::success);
    EXPECT_EQ((call("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>(pci.bus_id), &found)), Code::success);
    EXPECT_EQ(found, device);
    EXPECT_EQ((call("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>(pci.bus_id_legacy), &found)),
              Code::success);
    EXPECT_EQ(found, device);
  }
  std::array<char, 96> name{};
  EXPECT_EQ((call("nvmlDeviceGetName", devices_[a100], name.data(), 96U)), Code::success);
  EXPECT_THAT(name.data(), testing::HasSubstr("A100"));
  EXPECT_EQ((call("nvmlDeviceGetName", devices_[a100], name.data(), 4U)), Code::insufficient_size);
}

TEST_F(Nvml, RefusesAnInvalidHandleAndANullAnswer) {
  unsigned value = 0;
  Device stranger{};
  Device* const beyond = devices_[3] + 1;
  auto* const odd = reinterpret_cast<Device*>(reinterpret_cast<char*>(devices_[0]) + 1);
  for (Device* const device : {static_cast<Device*>(nullptr), &stranger, beyond, odd}) {
    EXPECT_EQ((call("nvmlDeviceGetPowerUsage", device, &value)), Code::invalid_argument);
  }
  EXPECT_EQ((call("nvmlDeviceGetPowerUsage", devices_[0], static_cast<unsigned*>(nullptr))), Code::invalid_argument);
  EXPECT_EQ((call("nvmlDeviceGetCount_v2", static_cast<unsigned*>(nullptr))), Code::invalid_argument);
  EXPECT_EQ((call("nvmlDeviceGetHandleByIndex_v2", 4U, &devices_[0])), Code::invalid_argument);
}

TEST_F(Nvml, CountsMillijoulesIfTheGpuHasACounter) {
  unsigned long long before = 0;
  unsigned long long after = 0;
  EXPECT_EQ((call("nvmlDeviceGetTotalEnergyConsumption", devices_[p100], &before)), Code::not_supported);
  load(v100, "constant:200W");
  ASSERT_EQ((call("nvmlDeviceGetTotalEnergyConsumption", devices_[v100], &before)), Code::success);
  pass(10_s);
  ASSERT_EQ((call("nvmlDeviceGetTotalEnergyConsumption", devices_[v100], &after)), Code::success);
  EXPECT_NEAR(static_cast<double>(after - before), 2'000'000.0, 4'001.0);
}

TEST_F(Nvml, ALimitHoldsPowerAndClocksDown) {
  load(v100, "constant:240W");
  pass(5_s);
  const unsigned free_clock = number("nvmlDeviceGetPowerUsage", v100);
  EXPECT_NEAR(free_clock, 240'000, 500);
  unsigned clock = 0;
  ASSERT_EQ((call("nvmlDeviceGetClockInfo", devices_[v100], ClockType::sm, &clock)), Code::success);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 150'000U), Code::success);
  pass(5_s);
  EXPECT_NEAR(number("nvmlDeviceGetPowerUsage", v100), 150'000, 500);
  EXPECT_EQ(number("nvmlDeviceGetPowerManagementLimit", v100), 150'000U);
  EXPECT_EQ(number("nvmlDeviceGetEnforcedPowerLimit", v100), 150'000U);
  unsigned lower = 0;
  ASSERT_EQ((call("nvmlDeviceGetClockInfo", devices_[v100], ClockType::sm, &lower)), Code::success);
  EXPECT_LT(lower, clock);
  unsigned long long reasons = 0;
  EXPECT_EQ((call("nvmlDeviceGetCurrentClocksEventReasons", devices_[v100], &reasons)), Code::success);
  EXPECT_EQ(reasons, reason::software_power_cap);
}

TEST_F(Nvml, RefusesALimitOutsideOfTheConstraints) {
  unsigned min = 0;
  unsigned max = 0;
  ASSERT_EQ((call("nvmlDeviceGetPowerManagementLimitConstraints", devices_[v100], &min, &max)), Code::success);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], min - 1), Code::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], max + 1), Code::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], min), Code::success);
  PowerValue value{.version = versioned<PowerValue>(2), .scope = PowerScope::gpu, .milliwatts = max};
  EXPECT_EQ((call("nvmlDeviceSetPowerManagementLimit_v2", devices_[v100], &value)), Code::success);
  EXPECT_EQ(number("nvmlDeviceGetPowerManagementLimit", v100), max);
  value.version = 1;
  EXPECT_EQ((call("nvmlDeviceSetPowerManagementLimit_v2", devices_[v100], &value)), Code::argument_version_mismatch);
}

TEST_F(Nvml, LocksClocksAsItsGenerationCan) {
  load(a100, "work:1,0.5,0.1");
  const auto lock = [&](unsigned device, unsigned min, unsigned max) {
    return call("nvmlDeviceSetGpuLockedClocks", devices_[device], min, max);
  };
  EXPECT_EQ(lock(p100, 600, 700), Code::not_supported);
  EXPECT_EQ(lock(a100, 700, 600), Code::invalid_argument);
  EXPECT_EQ(lock(a100, 600, symbolic_clock_tdp), Code::invalid_argument);
  EXPECT_EQ(lock(a100, symbolic_clock_tdp, symbolic_clock_unlimited), Code::success);
  EXPECT_EQ(lock(a100, 600, 600), Code::success);
  unsigned clock = 0;
  ASSERT_EQ((call("nvmlDeviceGetClockInfo", devices_[a100], ClockType::graphics, &clock)), Code::success);
  EXPECT_EQ(clock, 600U);
  EXPECT_EQ(call("nvmlDeviceResetGpuLockedClocks", devices_[a100]), Code::success);
  ASSERT_EQ((call("nvmlDeviceGetClockInfo", devices_[a100], ClockType::graphics, &clock)), Code::success);
  EXPECT_GT(clock, 600U);
}

TEST_F(Nvml, FieldValuesCarryTheirOwnResults) {
  load(h100, "constant:400W");
  pass(5_s);
  std::array<FieldValue, 6> values{};
  const std::array<unsigned, 6> fields{field::energy, field::power_average, field::power_instant, field::limit_max,
                                       9999,          field::power_average};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[i].field = fields[i];
  }
  values[5].scope = static_cast<unsigned>(PowerScope::module);
  ASSERT_EQ((call("nvmlDeviceGetFieldValues", devices_[h100], 6, values.data())), Code::success);
  EXPECT_EQ(values[0].type, ValueType::uint64);
  EXPECT_NEAR(values[1].value.uint32, 400'000, 500);
  EXPECT_NEAR(values[2].value.uint32, 400'000, 500);
  EXPECT_EQ(values[3].value.uint32, 700'000U);
  EXPECT_EQ(values[4].result, Code::not_supported);
  EXPECT_EQ(values[5].result, Code::not_supported);
  EXPECT_EQ(values[0].timestamp_us, session().civil(session().now()).microseconds_since_epoch);
  EXPECT_EQ((call("nvmlDeviceGetFieldValues", devices_[v100], 2, values.data())), Code::success);
  EXPECT_EQ(values[1].result, Code::not_supported) << "Volta has no average power";
  EXPECT_EQ((call("nvmlDeviceGetFieldValues", devices_[h100], 0, values.data())), Code::invalid_argument);
}

TEST_F(Nvml, SamplesAreGivenOnce) {
  const auto samples = [&](unsigned long long last, unsigned* count, Sample* out) {
    ValueType type{};
    return call("nvmlDeviceGetSamples", devices_[h100], SampleType::power, last, &type, count, out);
  };
  unsigned room = 0;
  ASSERT_EQ(samples(0, &room, nullptr), Code::success);
  ASSERT_GT(room, 10U);
  std::vector<Sample> ring(room);
  unsigned count = room;
  ASSERT_EQ(samples(0, &count, ring.data()), Code::success);
  EXPECT_EQ(count, room);
  const unsigned long long last = ring.back().timestamp_us;
  count = room;
  EXPECT_EQ(samples(last, &count, ring.data()), Code::not_found);
  pass(0.1_s);
  count = room;
  ASSERT_EQ(samples(last, &count, ring.data()), Code::success);
  EXPECT_GE(count, 4U);
  EXPECT_LE(count, 6U);
  EXPECT_GT(ring[0].timestamp_us, last);
  count = 1;
  EXPECT_EQ(samples(0, &count, ring.data()), Code::insufficient_size);
}

TEST_F(Nvml, ListsWhoLoadsAGpu) {
  unsigned count = 0;
  const auto list = [&](ProcessInfo* out) {
    return call("nvmlDeviceGetComputeRunningProcesses_v3", devices_[v100], &count, out);
  };
  EXPECT_EQ(list(nullptr), Code::success);
  EXPECT_EQ(count, 0U);
  load(v100, "constant:100W");
  EXPECT_EQ(list(nullptr), Code::insufficient_size);
  EXPECT_EQ(count, 1U);
  ProcessInfo info{};
  EXPECT_EQ(list(&info), Code::success);
  EXPECT_EQ(info.pid, static_cast<unsigned>(::getpid()));
  Memory memory{};
  ASSERT_EQ((call("nvmlDeviceGetMemoryInfo", devices_[v100], &memory)), Code::success);
  EXPECT_EQ(memory.used + memory.free, memory.total);
  EXPECT_GE(memory.used, info.used_memory);
}

TEST_F(Nvml, MisbehavesOnCommand) {
  const auto fault = [](const char* line) {
    auto* const add = client().library.function<int(const char*)>({"zeus_virtual_add_fault"});
    ASSERT_EQ(add(line), ZEUS_VIRTUAL_OK);
  };
  unsigned value = 0;
  const auto read = [&](unsigned device) { return call("nvmlDeviceGetPowerUsage", devices_[device], &value); };
  fault("timeout gpu=1 times=1 call=nvmlDeviceGetPowerUsage");
  EXPECT_EQ(read(v100), Code::timeout);
  EXPECT_EQ(read(v100), Code::success);
  fault("unsupported call=nvmlDeviceGetPowerUsage gpu=2");
  EXPECT_EQ(read(a100), Code::not_supported);
  fault("permission");
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 200'000U), Code::no_permission);
  session().clear_faults();
  fault("lower by=20W gpu=1");
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 200'000U), Code::success);
  EXPECT_EQ(number("nvmlDeviceGetPowerManagementLimit", v100), 200'000U);
  EXPECT_EQ(number("nvmlDeviceGetEnforcedPowerLimit", v100), 180'000U);
  fault("lost gpu=1");
  EXPECT_EQ(read(v100), Code::gpu_is_lost);
  Device* again = nullptr;
  EXPECT_EQ((call("nvmlDeviceGetHandleByIndex_v2", v100, &again)), Code::gpu_is_lost);
  EXPECT_EQ(read(a100), Code::success);
  session().clear_faults();
  EXPECT_EQ(read(v100), Code::success);
}

TEST_F(Nvml, AnswersUnsupportedCallsLikeARealGpu) {
  unsigned state = 0;
  EXPECT_EQ((call("nvmlDeviceGetNvLinkState", devices_[v100], 0U, &state)), Code::not_supported);
  EXPECT_EQ((call("nvmlDeviceGetFanSpeed", devices_[v100], &state)), Code::not_supported);
  EXPECT_EQ((call("nvmlDeviceGetMigMode", devices_[v100], &state, &state)), Code::not_supported);
  EXPECT_EQ((call("nvmlDeviceGetMigMode", devices_[h100], &state, &state)), Code::success);
  EXPECT_EQ(call("nvmlNoSuchThing"), Code::function_not_found);
}

TEST_F(Nvml, AForkedChildBeginsUninitialised) {
  ForkedChild child{[&] {
    unsigned power = 0;
    const bool refused = call("nvmlDeviceGetPowerUsage", devices_[v100], &power) == Code::uninitialized;
    const bool opened = call("nvmlInit_v2") == Code::success;
    return refused && opened && call("nvmlDeviceGetPowerUsage", devices_[v100], &power) == Code::success;
  }};
  EXPECT_TRUE(child.well());
}

TEST_F(Nvml, ForksWhileThreadsCallAndInitialise) {
  std::atomic<bool> done = false;
  const std::jthread worker{[&] {
    while (!done) {
      (void)call("nvmlInit_v2");
      (void)call("nvmlShutdown");
    }
  }};
  for (int i = 0; i < 50; ++i) {
    ForkedChild child{[&] { return call("nvmlInit_v2") == Code::success && call("nvmlShutdown") == Code::success; }};
    EXPECT_TRUE(child.well());
  }
  done = true;
}

TEST_F(Nvml, AThousandKillsInsideCallsLeaveItUsable) {
  constexpr int kills = 1000;
  load(v100, "square:80-240W,10ms");
  unsigned long long last = 0;
  for (int kill = 0; kill < kills; ++kill) {
    ForkedChild child{[&] {
      (void)call("nvmlInit_v2");
      for (unsigned i = 0;; ++i) {
        unsigned long long energy = 0;
        (void)call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 100'000U + i % 100'000U);
        (void)call("nvmlDeviceSetGpuLockedClocks", devices_[v100], 500U + i % 800U, 500U + i % 800U);
        (void)call("nvmlDeviceSetPersistenceMode", devices_[v100], i % 2U);
        (void)call("nvmlDeviceGetTotalEnergyConsumption", devices_[v100], &energy);
      }
      return true;
    }};
    ::usleep(static_cast<useconds_t>(kill * 2));
    child.kill();
    // Longer than the counter's period, so that its last step is later than the hundreds of changes at one instant.
    pass(Seconds{0.025});
    unsigned long long energy = 0;
    ASSERT_EQ((call("nvmlDeviceGetTotalEnergyConsumption", devices_[v100], &energy)), Code::success);
    ASSERT_GE(energy, last) << "after kill " << kill;
    last = energy;
    ASSERT_EQ(call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 200'000U), Code::success) << kill;
    ASSERT_EQ(number("nvmlDeviceGetEnforcedPowerLimit", v100), 200'000U) << kill;
  }
}

TEST_F(Nvml, ThreadsMayCallAtOnce) {
  std::vector<std::jthread> threads;
  std::atomic<int> failures = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        unsigned value = 0;
        const unsigned limit = 150'000U + static_cast<unsigned>(thread * 1000 + i);
        failures += call("nvmlDeviceSetPowerManagementLimit", devices_[v100], limit) == Code::success ? 0 : 1;
        failures += call("nvmlDeviceGetPowerUsage", devices_[v100], &value) == Code::success ? 0 : 1;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failures, 0);
}

TEST_F(Nvml, ReportsTrueValuesAndCallCountsSeparately) {
  load(a100, "constant:200W");
  zeus_virtual_truth before{};
  zeus_virtual_truth after{};
  auto* const truth = client().library.function<int(unsigned, zeus_virtual_truth*)>({"zeus_virtual_read_truth"});
  ASSERT_EQ(truth(a100, &before), ZEUS_VIRTUAL_OK);
  pass(10_s);
  ASSERT_EQ(truth(a100, &after), ZEUS_VIRTUAL_OK);
  EXPECT_NEAR(after.energy_j - before.energy_j, 2000.0, 1e-3);
  EXPECT_EQ(after.power_w, 200.0);
  EXPECT_EQ(truth(17, &after), ZEUS_VIRTUAL_INVALID);

  const std::uint64_t first = session().calls().count();
  (void)call("nvmlDeviceSetPowerManagementLimit", devices_[v100], 1U);
  std::array<zeus_virtual_call, 4> calls{};
  unsigned count = 4;
  auto* const read_calls =
      client().library.function<int(std::uint64_t, zeus_virtual_call*, unsigned*)>({"zeus_virtual_read_calls"});
  ASSERT_EQ(read_calls(first, calls.data(), &count), ZEUS_VIRTUAL_OK);
  ASSERT_EQ(count, 1U);
  EXPECT_STREQ(calls[0].entry_point, "nvmlDeviceSetPowerManagementLimit");
  EXPECT_EQ(calls[0].process, ::getpid());
  EXPECT_EQ(calls[0].gpu, 1);
  EXPECT_EQ(calls[0].result, static_cast<int>(Code::invalid_argument));
}

TEST_F(Nvml, ReportsTheTrueEnergyOfAPastMoment) {
  load(a100, "constant:200W");
  auto* const truth = client().library.function<int(unsigned, zeus_virtual_truth*)>({"zeus_virtual_read_truth"});
  auto* const energy = client().library.function<int(unsigned, double, double*)>({"zeus_virtual_read_energy"});
  zeus_virtual_truth then{};
  ASSERT_EQ(truth(a100, &then), ZEUS_VIRTUAL_OK);
  pass(10_s);
  double joules = 0;
  ASSERT_EQ(energy(a100, then.time_s, &joules), ZEUS_VIRTUAL_OK);
  EXPECT_NEAR(joules, then.energy_j, 1e-6);
  ASSERT_EQ(energy(a100, then.time_s + 3, &joules), ZEUS_VIRTUAL_OK);
  EXPECT_NEAR(joules, then.energy_j + 600, 1e-3);
  EXPECT_EQ(energy(a100, then.time_s + 11, &joules), ZEUS_VIRTUAL_INVALID) << "it has not come yet";
  EXPECT_EQ(energy(17, then.time_s, &joules), ZEUS_VIRTUAL_INVALID);
}

TEST(NvmlWithoutInit, RefusesEveryCall) {
  auto* const power = client().library.function<Code(Device*, unsigned*)>({"nvmlDeviceGetPowerUsage"});
  auto* const link = client().library.function<Code()>({"nvmlDeviceGetNvLinkState"});
  auto* const shut_down = client().library.function<Code()>({"nvmlShutdown"});
  EXPECT_EQ(power(nullptr, nullptr), Code::uninitialized);
  EXPECT_EQ(link(), Code::uninitialized);
  EXPECT_EQ(shut_down(), Code::uninitialized);
}

}  // namespace
}  // namespace zeus::drivers::nvml
