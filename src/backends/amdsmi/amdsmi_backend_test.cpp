// The back-end against a handwritten table of calls: the answers of old, broken or partial drivers. tests/conformance
// shows that it agrees with a driver that works.
#include "backends/amdsmi/amdsmi_backend.hpp"

#include "backends/amdsmi/amdsmi_library.hpp"
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace zeus::backends::amdsmi {
namespace {

using device::Discovery;
using device::GpuFeature;

// What the calls below answer from; made again for each test. Two GPUs in one socket, which HIP numbers in reverse
// order.
struct Driver {
  VirtualClock* clock = nullptr;
  abi::Code init_code = abi::Code::success;
  std::uint32_t major = 26;
  std::uint32_t minor = 2;
  double counted_watts[2] = {200, 100};
  std::uint32_t instant_watts[2] = {200, 100};
  std::uint32_t average_watts[2] = {abi::not_available_16, 90};
  std::int64_t temperature = 45;
  std::uint64_t cap = 300'000'000;
};

Driver driver;

std::size_t index_of(abi::Processor* processor) {
  return reinterpret_cast<std::uintptr_t>(processor) - 1;
}

abi::Code energy_of(abi::Processor* processor, std::uint64_t* count, float* unit, std::uint64_t* timestamp) {
  const double seconds = static_cast<double>(driver.clock->now().nanoseconds) * 1e-9;
  *unit = 15.259F;
  *count = static_cast<std::uint64_t>(1e9 + driver.counted_watts[index_of(processor)] * seconds / 15.259e-6);
  *timestamp = 0;
  return abi::Code::success;
}

abi::Code power_of(abi::Processor* processor, abi::PowerInfo* info) {
  const std::size_t index = index_of(processor);
  if (driver.major < 25) {
    const abi::PowerInfo24 old{driver.instant_watts[index], driver.average_watts[index]};
    std::memcpy(info, &old, sizeof(old));
  } else {
    info->current_socket_power = driver.instant_watts[index];
    info->average_socket_power = driver.average_watts[index];
  }
  return abi::Code::success;
}

Functions working_calls() {
  Functions table;
  table.init = [](std::uint64_t) { return driver.init_code; };
  table.shut_down = [] { return abi::Code::success; };
  table.library_version = [](abi::Version* version) {
    version->major = driver.major;
    version->minor = driver.minor;
    return abi::Code::success;
  };
  table.sockets = [](std::uint32_t* count, abi::Socket** sockets) {
    if (sockets != nullptr) {
      sockets[0] = nullptr;
    }
    *count = 1;
    return abi::Code::success;
  };
  table.processors = [](abi::Socket*, std::uint32_t* count, abi::Processor** processors) {
    for (std::uintptr_t i = 0; processors != nullptr && i < 2; ++i) {
      processors[i] =
          reinterpret_cast<abi::Processor*>(i + 1);  // NOLINT(performance-no-int-to-ptr): a handle is opaque
    }
    *count = 2;
    return abi::Code::success;
  };
  table.bdf = [](abi::Processor* processor, std::uint64_t* bits) {
    *bits = (0x83ULL + index_of(processor)) << 8;
    return abi::Code::success;
  };
  table.asic_info = [](abi::Processor* processor, abi::AsicInfo* info) {
    std::strcpy(info->market_name, "AMD Instinct MI250X");
    std::strcpy(info->serial, index_of(processor) == 0 ? "0xABCDEF" : "0x123");
    return abi::Code::success;
  };
  table.enumeration_info = [](abi::Processor* processor, abi::EnumerationInfo* info) {
    info->hip_id = index_of(processor) == 0 ? 1 : 0;
    return abi::Code::success;
  };
  table.energy_count = energy_of;
  table.power_info = power_of;
  table.temperature = [](abi::Processor*, std::uint32_t, std::uint32_t, std::int64_t* degrees) {
    *degrees = driver.temperature;
    return abi::Code::success;
  };
  table.power_cap = [](abi::Processor*, std::uint32_t, abi::PowerCap* cap) {
    cap->cap = driver.cap;
    cap->standard = 560'000'000;
    cap->min = 100'000'000;
    cap->max = 560'000'000;
    return abi::Code::success;
  };
  table.set_power_cap = [](abi::Processor*, std::uint32_t, std::uint64_t microwatts) {
    driver.cap = microwatts;
    return abi::Code::success;
  };
  return table;
}

class AmdsmiBackendTest : public ::testing::Test {
 protected:
  AmdsmiBackendTest() {
    driver = {};
    driver.clock = &clock_;
  }
  Discovery discover(const Functions& table = working_calls()) {
    return discover_in(std::make_shared<AmdsmiLibrary>(table, std::nullopt, clock_));
  }

  VirtualClock clock_{Instant{1'000'000'000}};
};

TEST_F(AmdsmiBackendTest, AMachineWithoutTheLibraryHasNoGpuAndReportsHowToGetIt) {
  const Discovery found = AmdsmiBackend{clock_, {"libno-such-library.so"}}.discover();
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_TRUE(found.problems.empty());
  ASSERT_TRUE(found.absence);
  EXPECT_NE(found.absence->fix.find("ROCm 6.3"), std::string::npos);
}

TEST_F(AmdsmiBackendTest, ALibraryThatIsNotAmdsOrIsTooOldIsOneProblem) {
  EXPECT_EQ(AmdsmiBackend(clock_, {"libc.so.6"}).discover().problems.at(0).what,
            "its library libc.so.6 lacks calls that every version has had");
  driver.major = 23;
  EXPECT_EQ(discover().problems.at(0).fix, "update ROCm to 6.3 or newer");
  driver.init_code = abi::Code::no_permission;
  EXPECT_EQ(discover().problems.at(0).fix, "add the user to the groups `video` and `render`");
}

TEST_F(AmdsmiBackendTest, GpusAreNumberedAsHipDoesAndNamedAsTheRuntimeDoes) {
  const Discovery found = discover();
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_TRUE(found.problems.empty());
  EXPECT_EQ(found.gpus[0].gpu->identity().uuid, "GPU-0000000000000123");
  EXPECT_EQ(found.gpus[1].gpu->identity().uuid, "GPU-0000000000abcdef");
  EXPECT_EQ(to_string(found.gpus[1].gpu->identity().pci), "0000:83:00.0");
  EXPECT_EQ(found.gpus[1].gpu->identity().index, 1);
}

TEST_F(AmdsmiBackendTest, TheCounterIsItsCountTimesItsUnit) {
  const Discovery found = discover();
  const device::Gpu& gpu = *found.gpus[1].gpu;
  EXPECT_NEAR(gpu.energy_counter()->resolution.value(), 15.259e-6, 1e-11);
  const Joules first = gpu.energy()->value;
  clock_.advance(10_s);
  EXPECT_NEAR((gpu.energy()->value - first).value(), 2000, 0.1);
}

TEST_F(AmdsmiBackendTest, ABrokenCounterIsDisbelievedAndTheOtherGpuIsNot) {
  driver.counted_watts[0] = 0;
  const Discovery found = discover();
  const device::Gpu& broken = *found.gpus[1].gpu;
  EXPECT_EQ(broken.energy().failure(), (Failure{Reason::unreliable, "the energy counter stands still"}));
  EXPECT_EQ(broken.energy_counter().failure().reason, Reason::unreliable);
  EXPECT_FALSE(broken.features().has(GpuFeature::energy_counter));
  EXPECT_TRUE(found.gpus[0].gpu->energy());
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_NE(found.problems[0].what.find("stands still"), std::string::npos);
}

TEST_F(AmdsmiBackendTest, TheSecondDieOfAModuleMeasuresNothingAndReportsThat) {
  driver.instant_watts[1] = 0;
  driver.average_watts[1] = abi::not_available_16;
  const Discovery found = discover();
  const device::Gpu& die = *found.gpus[0].gpu;
  EXPECT_EQ(die.power(PowerKind::instant, PowerScope::gpu).failure().reason, Reason::unsupported);
  EXPECT_EQ(die.energy().failure().reason, Reason::unreliable);
}

TEST_F(AmdsmiBackendTest, PowerIsReadFromWhereEachVersionOfTheLibraryKeepsIt) {
  for (const std::uint32_t major : {24U, 25U, 26U}) {
    driver.major = major;
    const Discovery found = discover();
    EXPECT_EQ(found.gpus.at(1).gpu->power(PowerKind::instant, PowerScope::gpu)->value, 200_W) << major;
    EXPECT_EQ(found.gpus[1].gpu->power(PowerKind::average, PowerScope::gpu).failure().reason, Reason::unsupported);
    EXPECT_EQ(found.gpus[0].gpu->power(PowerKind::average, PowerScope::gpu)->value, 90_W) << major;
  }
}

TEST_F(AmdsmiBackendTest, ATemperatureIsTheSameInEitherUnit) {
  const Discovery found = discover();
  EXPECT_EQ(*found.gpus[0].gpu->temperature(), 45_degC);
  driver.temperature = 45'500;
  EXPECT_EQ(*found.gpus[0].gpu->temperature(), 45.5_degC);
}

TEST_F(AmdsmiBackendTest, ALimitOutsideOfTheRangeIsRefusedBeforeTheDriverClampsIt) {
  const Discovery found = discover();
  device::GpuControl& control = *found.gpus[0].control;
  EXPECT_TRUE(control.set_power_limit(250_W));
  EXPECT_EQ(driver.cap, 250'000'000U);
  for (const double limit : {99.0, 561.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(control.set_power_limit(Watts{limit}).failure().reason, Reason::out_of_range) << limit;
  }
  EXPECT_EQ(driver.cap, 250'000'000U);
  EXPECT_EQ(control.lock_clocks(ClockDomain::graphics, {1_MHz, 2_MHz}).failure().reason, Reason::unsupported);
  EXPECT_EQ(control.set_persistence_mode(true).failure().reason, Reason::unsupported);
}

TEST_F(AmdsmiBackendTest, AReopenedGpuIsFoundByItsAddress) {
  const Discovery found = discover();
  ASSERT_TRUE(found.gpus[0].gpu->reopen());
  ASSERT_TRUE(found.gpus[1].gpu->reopen());
  EXPECT_EQ(found.gpus[0].gpu->generation(), 1U);
  EXPECT_EQ(found.gpus[1].gpu->power(PowerKind::instant, PowerScope::gpu)->value, 200_W);
}

}  // namespace
}  // namespace zeus::backends::amdsmi
