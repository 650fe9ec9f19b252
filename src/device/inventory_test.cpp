#include "device/inventory.hpp"

#include "tests/support/fake_gpu.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zeus::device {
namespace {

std::shared_ptr<test::FakeGpu> fake_gpu(std::string uuid, std::string driver) {
  GpuIdentity identity;
  identity.uuid = std::move(uuid);
  identity.driver = std::move(driver);
  return std::make_shared<test::FakeGpu>(identity);
}

TEST(Inventory, BackEndsAreAskedInOrderAndTheFirstToFindAGpuKeepsIt) {
  test::FakeBackend first{"first"};
  first.its_discovery.gpus = {{fake_gpu("GPU-a", "1"), nullptr}, {fake_gpu("GPU-b", "1"), nullptr}};
  first.its_discovery.summary = "driver 1";
  test::FakeBackend second{"second"};
  second.its_discovery.gpus = {{fake_gpu("GPU-b", "2"), nullptr}, {fake_gpu("GPU-c", "2"), nullptr}};
  second.its_discovery.cpus = {std::make_shared<test::FakeCpu>(0, "package-0")};
  const std::vector<Backend*> backends{&first, &second};
  const Inventory inventory = take_inventory(backends, Environment{});
  ASSERT_EQ(inventory.gpus.size(), 3U);
  EXPECT_EQ(inventory.gpus[1].gpu->identity().driver, "1");
  EXPECT_EQ(inventory.gpus[2].gpu->identity().uuid, "GPU-c");
  EXPECT_EQ(inventory.cpus.size(), 1U);
  ASSERT_EQ(inventory.backends.size(), 2U);
  EXPECT_EQ(inventory.backends[0].summary, "driver 1");
}

TEST(Inventory, ALocalDaemonAddsOnlyDevicesThatNoDriverShows) {
  test::FakeBackend own{"own"};
  own.its_discovery.gpus = {{fake_gpu("GPU-a", "1"), nullptr}};
  test::FakeBackend daemon{"daemon"};
  daemon.its_discovery.from = DiscoveredFrom::daemon_here;
  daemon.its_discovery.gpus = {{fake_gpu("GPU-a", "2"), nullptr}, {fake_gpu("GPU-hidden", "2"), nullptr}};
  {
    const std::vector<Backend*> backends{&own, &daemon};
    const Inventory inventory = take_inventory(backends, Environment{});
    ASSERT_EQ(inventory.gpus.size(), 1U);
    EXPECT_EQ(inventory.gpus.front().gpu->identity().driver, "1");
  }
  own.its_discovery.gpus.clear();
  const std::vector<Backend*> backends{&own, &daemon};
  EXPECT_EQ(take_inventory(backends, Environment{}).visible().size(), 2U) << "where there is no driver, they are its";
}

TEST(Inventory, AnotherNodesGpusAreNumberedAfterAllThatAreHere) {
  test::FakeBackend other{"other"};
  other.its_discovery.from = DiscoveredFrom::other_node;
  other.its_discovery.gpus = {{fake_gpu("GPU-far", "2"), nullptr}};
  test::FakeBackend own{"own"};
  own.its_discovery.gpus = {{fake_gpu("GPU-a", "1"), nullptr}, {fake_gpu("GPU-b", "1"), nullptr}};
  const std::vector<Backend*> backends{&own, &other};
  const Inventory inventory = take_inventory(backends, Environment{{{"CUDA_VISIBLE_DEVICES", "1"}}});
  const std::vector<DiscoveredGpu> visible = inventory.visible();
  ASSERT_EQ(visible.size(), 2U);
  EXPECT_EQ(visible[0].gpu->identity().uuid, "GPU-b");
  EXPECT_EQ(visible[1].gpu->identity().uuid, "GPU-far");
}

TEST(Inventory, ACpuPackageComesFromTheBackendThatMayReadIt) {
  test::FakeBackend own{"own"};
  const auto closed = std::make_shared<test::FakeCpu>(0, "package-0");
  const auto open = std::make_shared<test::FakeCpu>(1, "package-1");
  closed->its_package = Reason::permission;
  open->its_package = Stamped<Joules>{.value = 1_J, .at = {}, .latency = {}};
  own.its_discovery.cpus = {closed, open};
  own.its_discovery.problems = {{"package-0", "it may not be read", "ask for it"}};
  test::FakeBackend daemon{"daemon"};
  daemon.its_discovery.from = DiscoveredFrom::daemon_here;
  const auto told = std::make_shared<test::FakeCpu>(0, "package-0");
  told->its_package = open->its_package;
  daemon.its_discovery.cpus = {told, std::make_shared<test::FakeCpu>(1, "package-1"),
                               std::make_shared<test::FakeCpu>(2, "package-2")};
  const std::vector<Backend*> backends{&own, &daemon};
  const Inventory inventory = take_inventory(backends, Environment{});
  ASSERT_EQ(inventory.cpus.size(), 2U);
  EXPECT_EQ(inventory.cpus[0], told);
  EXPECT_EQ(inventory.cpus[1], open);
  EXPECT_TRUE(inventory.problems.empty());
}

TEST(Inventory, ThatAPackageCanBeReadElsewhereSaysNothingOfOneWhoseNameBeginsTheSame) {
  test::FakeBackend own{"own"};
  for (int i = 0; i < 11; ++i) {
    own.its_discovery.cpus.push_back(std::make_shared<test::FakeCpu>(i, fmt::format("package-{}", i)));
  }
  std::static_pointer_cast<test::FakeCpu>(own.its_discovery.cpus[1])->its_package = Reason::permission;
  const DeviceProblem other{"package-10", "it may not be read", "ask for it"};
  own.its_discovery.problems = {{"package-1", "it may not be read", "ask for it"}, other};
  test::FakeBackend daemon{"daemon"};
  daemon.its_discovery.from = DiscoveredFrom::daemon_here;
  const auto told = std::make_shared<test::FakeCpu>(1, "package-1");
  told->its_package = Stamped<Joules>{.value = 1_J, .at = {}, .latency = {}};
  daemon.its_discovery.cpus = {told};
  const std::vector<Backend*> backends{&own, &daemon};
  EXPECT_EQ(take_inventory(backends, Environment{}).problems, std::vector{other});
}

TEST(Inventory, ABackEndThatFailsIsAProblemAndTheOthersGoOn) {
  test::FakeBackend broken{"broken"};
  broken.its_error = Error{ErrorKind::unavailable, "the library cannot be loaded", "reinstall it"};
  test::FakeBackend working{"working"};
  working.its_discovery.gpus = {{fake_gpu("GPU-a", "1"), nullptr}};
  const std::vector<Backend*> backends{&broken, &working};
  const Inventory inventory = take_inventory(backends, Environment{});
  EXPECT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.problems,
            (std::vector<DeviceProblem>{{"broken", "the library cannot be loaded", "reinstall it"}}));
}

// Two GPUs of NVIDIA, the faster one second on the bus, and two of AMD.
class NumberingTest : public ::testing::Test {
 protected:
  NumberingTest() {
    for (const auto& [uuid, vendor, speed] :
         {std::tuple{"GPU-slow", GpuVendor::nvidia, 1.0}, std::tuple{"GPU-fast", GpuVendor::nvidia, 2.0},
          std::tuple{"GPU-amd0", GpuVendor::amd, 1.0}, std::tuple{"GPU-amd1", GpuVendor::amd, 1.0}}) {
      GpuIdentity identity;
      identity.uuid = uuid;
      identity.name = uuid + 4;
      identity.vendor = vendor;
      identity.relative_speed = speed;
      identity.pci.bus = static_cast<std::uint32_t>(backend_.its_discovery.gpus.size());
      backend_.its_discovery.gpus.push_back({std::make_shared<test::FakeGpu>(identity), nullptr});
    }
  }

  [[nodiscard]] Inventory take(Environment::Variables variables) {
    const std::vector<Backend*> backends{&backend_};
    return take_inventory(backends, Environment{std::move(variables)});
  }
  [[nodiscard]] std::vector<std::string> numbered(Environment::Variables variables) {
    std::vector<std::string> uuids;
    for (const DiscoveredGpu& one : take(std::move(variables)).visible()) {
      EXPECT_EQ(one.number, static_cast<int>(uuids.size()));
      uuids.push_back(one.gpu->identity().uuid);
    }
    return uuids;
  }

  test::FakeBackend backend_{"both"};
};

using Uuids = std::vector<std::string>;

TEST_F(NumberingTest, GpusHaveTheNumbersOfPrograms) {
  EXPECT_EQ(numbered({}), (Uuids{"GPU-fast", "GPU-slow", "GPU-amd0", "GPU-amd1"}));
  EXPECT_EQ(numbered({{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), (Uuids{"GPU-slow", "GPU-fast", "GPU-amd0", "GPU-amd1"}));
  EXPECT_EQ(
      numbered({{"CUDA_VISIBLE_DEVICES", "GPU-slow"}, {"ROCR_VISIBLE_DEVICES", "1,0"}, {"HIP_VISIBLE_DEVICES", "0"}}),
      (Uuids{"GPU-slow", "GPU-amd1"}));
}

TEST_F(NumberingTest, TheMachinesOwnOrderStaysWhateverIsVisible) {
  const Inventory inventory = take({{"CUDA_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", ""}});
  ASSERT_EQ(inventory.gpus.size(), 4U);
  EXPECT_EQ(to_text(inventory.gpus[0]), "GPU-slow (slow)");
  EXPECT_EQ(to_text(inventory.gpus[1]), "GPU 0 (fast)");
  EXPECT_FALSE(inventory.gpus[2].number || inventory.gpus[3].number);
  EXPECT_EQ(inventory.problems.size(), 2U) << "what the variables say is said";
}

}  // namespace
}  // namespace zeus::device
