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

TEST(Devices, ReportsWhyThereAreNone) {
  if (gpus().empty()) {
    EXPECT_FALSE(device_problems().empty());
  }
  for (const DeviceProblem& problem : device_problems()) {
    EXPECT_FALSE(problem.what.empty()) << problem.device;
    EXPECT_FALSE(problem.fix.empty()) << problem.device;
  }
}

// The other tests run as library.devices_on_virtual_gpus, on two V100s that draw 150 W each.
class DevicesOnVirtualGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("ZEUS_VIRTUAL_SESSION") == nullptr) {  // NOLINT(concurrency-mt-unsafe): nothing sets it meanwhile
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
    EXPECT_NEAR(gpu.power(PowerKind::instant)->power.value(), 150, 2);
    EXPECT_GT(gpu.temperature()->temperature, 20_degC);
    const PowerLimits limits = gpu.power_limits();
    EXPECT_EQ(limits.minimum.optional(), 100_W);
    EXPECT_EQ(limits.maximum.optional(), 250_W);
    EXPECT_EQ(limits.standard.optional(), 250_W);
    const auto memory = *gpu.supported_memory_clocks();
    EXPECT_FALSE(gpu.supported_graphics_clocks(memory.front())->empty());
    const Reading<PowerSample> absent = gpu.power(PowerKind::average, PowerScope::memory);
    EXPECT_FALSE(absent);
    EXPECT_EQ(absent.failure().reason, Reason::unsupported);
  }
}

TEST_F(DevicesOnVirtualGpus, AreSetUnderALeaseAndPutBackAtItsEnd) {
  const Gpu gpu = gpus().front();
  const Watts found = *gpu.power_limits().current;
  {
    GpuLease lease = gpu.lease();
    EXPECT_EQ(lease.set_power_limit(180_W).optional(), 180_W);
    lease.lock_clocks(ClockDomain::graphics, {.minimum = 500_MHz, .maximum = 700_MHz});
    EXPECT_LE(*gpu.clock(ClockDomain::graphics), 700_MHz);
    {
      GpuLease another = gpu.lease();
      (void)another.set_power_limit(160_W);
      EXPECT_NE(lease.overruled(), "");
    }
    EXPECT_EQ(gpu.power_limits().current.optional(), 180_W);
    EXPECT_TRUE(gpu.is_leased());
    EXPECT_EQ(kind_of([&] { (void)lease.set_power_limit(9999_W); }), ErrorKind::invalid_argument);
    EXPECT_EQ(gpu.power_limits().current.optional(), 180_W);
    lease.restore();
    EXPECT_EQ(gpu.power_limits().current.optional(), found);
    (void)lease.set_power_limit(180_W);
  }
  EXPECT_EQ(gpu.power_limits().current.optional(), found);
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
    bool good = gpu.energy().has_value();
    GpuLease lease = gpu.lease();
    good = good && lease.set_power_limit(190_W) == 190_W;
    lease.release();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(gpus().back().power_limits().current.optional(), 250_W);
}

}  // namespace
}  // namespace zeus
