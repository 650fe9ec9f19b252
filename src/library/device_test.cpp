#include <zeus/device.hpp>
#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

namespace zeus {
namespace {

using namespace zeus::literals;

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(Devices, OneThatIsNotThereIsNotFound) {
  const Gpu none{static_cast<int>(gpus().size())};
  EXPECT_EQ(kind_of([&] { (void)none.name(); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { (void)none.energy(); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { (void)none.lease(); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([] { (void)CpuPackage{-1}.energy(); }), ErrorKind::not_found);
}

TEST(Devices, WhereThereAreNoneItIsSaidWhy) {
  if (gpus().empty()) {
    EXPECT_FALSE(device_problems().empty());
  }
  for (const DeviceProblem& problem : device_problems()) {
    EXPECT_FALSE(problem.what.empty()) << problem.device;
    EXPECT_FALSE(problem.fix.empty()) << problem.device;
  }
}

// The rest runs as library.devices_on_virtual_gpus, on two V100s that draw 150 W each.
class DevicesOnVirtualGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("ZEUS_VIRTUAL_SESSION") == nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it meanwhile
      GTEST_SKIP() << "it takes virtual GPUs: library.devices_on_virtual_gpus runs it";
    }
    ASSERT_EQ(gpus().size(), 2U);
  }
};

TEST_F(DevicesOnVirtualGpus, TellWhatTheyAreAndDo) {
  std::this_thread::sleep_for(std::chrono::milliseconds{300});  // until the sensor has seen the load
  for (const Gpu& gpu : gpus()) {
    EXPECT_NE(gpu.name().find("V100"), std::string::npos);
    EXPECT_EQ(gpu.vendor(), GpuVendor::nvidia);
    EXPECT_EQ(gpu.uuid().substr(0, 4), "GPU-");
    EXPECT_EQ(gpu.driver_index(), gpu.index());
    EXPECT_NEAR(gpu.power(PowerMeaning::instant).value.value().power.value(), 150, 2);
    EXPECT_GT(gpu.temperature().value.value().temperature, 20_degC);
    const GpuPowerLimits limits = gpu.power_limits();
    EXPECT_EQ(limits.minimum.value, 100_W);
    EXPECT_EQ(limits.maximum.value, 250_W);
    EXPECT_EQ(limits.standard.value, 250_W);
    const auto memory = gpu.supported_memory_clocks().value.value();
    EXPECT_FALSE(gpu.supported_graphics_clocks(memory.front()).value.value().empty());
    const Answer<PowerSample> absent = gpu.power(PowerMeaning::average, PowerPart::memory);
    EXPECT_FALSE(absent.value);
    EXPECT_EQ(absent.why, NoAnswer::unsupported);
    EXPECT_FALSE(absent.reason.empty());
  }
}

TEST_F(DevicesOnVirtualGpus, AreSetUnderALeaseAndPutBackAtItsEnd) {
  const Gpu gpu = gpus().front();
  const Watts found = gpu.power_limits().current.value.value();
  {
    GpuLease lease = gpu.lease();
    EXPECT_EQ(lease.set_power_limit(180_W).value, 180_W);
    lease.lock_clocks(ClockDomain::graphics, 500_MHz, 700_MHz);
    EXPECT_LE(gpu.clock(ClockDomain::graphics).value.value(), 700_MHz);
    {
      GpuLease another = gpu.lease();
      (void)another.set_power_limit(160_W);
      EXPECT_NE(lease.overruled(), "");
    }
    EXPECT_EQ(gpu.power_limits().current.value, 180_W);
    EXPECT_TRUE(gpu.is_leased());
    EXPECT_EQ(kind_of([&] { (void)lease.set_power_limit(9999_W); }), ErrorKind::invalid_argument);
    EXPECT_EQ(gpu.power_limits().current.value, 180_W);
    lease.restore();
    EXPECT_EQ(gpu.power_limits().current.value, found);
    (void)lease.set_power_limit(180_W);
  }
  EXPECT_EQ(gpu.power_limits().current.value, found);
  GpuLease lease = gpu.lease();
  lease.release();
  lease.release();
  EXPECT_EQ(kind_of([&] { (void)lease.set_power_limit(180_W); }), ErrorKind::invalid_argument);
}

TEST_F(DevicesOnVirtualGpus, AForkedChildReadsAndLeasesForItself) {
  (void)gpus().front().energy();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Gpu gpu{1};
    bool good = gpu.energy().value.has_value();
    GpuLease lease = gpu.lease();
    good = good && lease.set_power_limit(190_W).value == 190_W;
    lease.release();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(gpus().back().power_limits().current.value, 250_W);
}

}  // namespace
}  // namespace zeus
