// The virtual AMD SMI from a client's side: the built library, opened at run time.

#include "tests/support/driver_client.hpp"

#include "abi/amdsmi/amdsmi_abi.hpp"
#include "drivers/session/session.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <unistd.h>

namespace zeus::drivers::amdsmi {
namespace {

using namespace abi::amdsmi;  // NOLINT(google-build-using-namespace): what a driver is made of
using namespace zeus::literals;

test::DriverClient& client() {
  static test::DriverClient client{"1xV100,2xA100@amd", ZEUS_AMDSMI_LIBRARY};
  return client;
}

class Amdsmi : public testing::Test {
 protected:
  void SetUp() override {
    session().clear_faults();
    session().set_clock_running(false);
    ASSERT_EQ(call("amdsmi_init", std::uint64_t{2}), Code::success);
    gpus_ = processors();
    ASSERT_EQ(gpus_.size(), 2U);
  }
  void TearDown() override { EXPECT_EQ(call("amdsmi_shut_down"), Code::success); }

  static Session& session() { return client().session; }
  template <typename... Arguments>
  static Code call(const char* name, Arguments... arguments) {
    return client().call(Code::unknown, name, arguments...);
  }
  static std::vector<Processor*> processors() {
    std::uint32_t count = 0;
    EXPECT_EQ((call("amdsmi_get_socket_handles", &count, static_cast<Socket**>(nullptr))), Code::success);
    std::vector<Socket*> sockets(count);
    EXPECT_EQ((call("amdsmi_get_socket_handles", &count, sockets.data())), Code::success);
    std::vector<Processor*> found;
    for (Socket* const socket : sockets) {
      std::uint32_t one = 1;
      Processor* processor = nullptr;
      EXPECT_EQ((call("amdsmi_get_processor_handles", socket, &one, &processor)), Code::success);
      found.push_back(processor);
    }
    return found;
  }

  std::vector<Processor*> gpus_;
};

TEST_F(Amdsmi, ShowsTheGpusThatAreAmdsAndNoOthers) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  EXPECT_EQ((call("amdsmi_get_gpu_device_bdf", gpus_[0], &first)), Code::success);
  EXPECT_EQ((call("amdsmi_get_gpu_device_bdf", gpus_[1], &second)), Code::success);
  EXPECT_EQ(first >> 8U, 2U);
  EXPECT_EQ(second >> 8U, 3U);
  EnumerationInfo info{};
  EXPECT_EQ((call("amdsmi_get_gpu_enumeration_info", gpus_[1], &info)), Code::success);
  EXPECT_EQ(info.hip_id, 1U);
}

TEST_F(Amdsmi, EnergyAndPowerAgree) {
  session().set_load(1, physics::Load::constant(physics::Demand::of_power(200_W)), ::getpid());
  session().advance_clock(5_s);
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t stamp = 0;
  float resolution = 0;
  ASSERT_EQ((call("amdsmi_get_energy_count", gpus_[0], &before, &resolution, &stamp)), Code::success);
  session().advance_clock(10_s);
  ASSERT_EQ((call("amdsmi_get_energy_count", gpus_[0], &after, &resolution, &stamp)), Code::success);
  EXPECT_NEAR(static_cast<double>(after - before) * static_cast<double>(resolution) * 1e-6, 2000.0, 20.1);
  PowerInfo power{};
  ASSERT_EQ((call("amdsmi_get_power_info", gpus_[0], &power)), Code::success);
  EXPECT_EQ(power.current_socket_power, 200U);
}

TEST_F(Amdsmi, ACapHoldsPowerDown) {
  session().set_load(1, physics::Load::constant(physics::Demand::of_power(220_W)), ::getpid());
  PowerCap cap{};
  ASSERT_EQ((call("amdsmi_get_power_cap_info", gpus_[0], 0U, &cap)), Code::success);
  EXPECT_EQ(call("amdsmi_set_power_cap", gpus_[0], 0U, cap.min - 1), Code::invalid_argument);
  EXPECT_EQ(call("amdsmi_set_power_cap", gpus_[0], 0U, std::uint64_t{150'000'000}), Code::success);
  session().advance_clock(5_s);
  PowerInfo power{};
  ASSERT_EQ((call("amdsmi_get_power_info", gpus_[0], &power)), Code::success);
  EXPECT_EQ(power.current_socket_power, 150U);
  EXPECT_EQ(call("amdsmi_set_power_cap", gpus_[0], 0U, cap.standard), Code::success);
}

TEST_F(Amdsmi, ClocksAreLockedAndFreed) {
  session().set_load(2, physics::Load::constant(physics::Demand::of_work(1, 0.5, 0.1)), ::getpid());
  const auto clock = [&] {
    ClockInfo info{};
    EXPECT_EQ((call("amdsmi_get_clock_info", gpus_[1], ClockType::graphics, &info)), Code::success);
    return info.current;
  };
  EXPECT_EQ(call("amdsmi_set_gpu_clk_range", gpus_[1], std::uint64_t{600}, std::uint64_t{600}, ClockType::graphics),
            Code::success);
  EXPECT_EQ(clock(), 600U);
  EXPECT_EQ(call("amdsmi_set_gpu_perf_level", gpus_[1], level_automatic), Code::success);
  EXPECT_GT(clock(), 600U);
}

TEST_F(Amdsmi, RefusesStrangersAndMisbehavesOnCommand) {
  PowerInfo power{};
  Processor stranger{};
  EXPECT_EQ((call("amdsmi_get_power_info", &stranger, &power)), Code::invalid_argument);
  EXPECT_EQ((call("amdsmi_get_power_info", gpus_[0], static_cast<PowerInfo*>(nullptr))), Code::invalid_argument);
  session().add_fault(*parse_fault("permission"));
  EXPECT_EQ(call("amdsmi_set_power_cap", gpus_[0], 0U, std::uint64_t{200'000'000}), Code::no_permission);
  EXPECT_EQ((call("amdsmi_get_power_info", gpus_[0], &power)), Code::success);
  EXPECT_EQ(call("amdsmi_get_gpu_fan_rpms"), Code::not_supported);
}

}  // namespace
}  // namespace zeus::drivers::amdsmi
