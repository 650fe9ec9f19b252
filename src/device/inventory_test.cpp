#include "device/inventory.hpp"

#include "tests/support/fake_gpu.hpp"

#include <gtest/gtest.h>

namespace zeus::device {
namespace {

std::shared_ptr<test::FakeGpu> gpu(std::string uuid, std::string driver) {
  GpuIdentity identity;
  identity.uuid = std::move(uuid);
  identity.driver = std::move(driver);
  return std::make_shared<test::FakeGpu>(identity);
}

TEST(Inventory, BackEndsAreAskedInOrderAndTheFirstToFindAGpuKeepsIt) {
  test::FakeBackend first{"first"};
  first.its_discovery.gpus = {{gpu("GPU-a", "1"), nullptr}, {gpu("GPU-b", "1"), nullptr}};
  first.its_discovery.summary = "driver 1";
  test::FakeBackend second{"second"};
  second.its_discovery.gpus = {{gpu("GPU-b", "2"), nullptr}, {gpu("GPU-c", "2"), nullptr}};
  second.its_discovery.cpus = {std::make_shared<test::FakeCpu>(0, "package-0")};
  const std::vector<Backend*> backends{&first, &second};
  const Inventory inventory = take_inventory(backends);
  ASSERT_EQ(inventory.gpus.size(), 3U);
  EXPECT_EQ(inventory.gpus[1].gpu->identity().driver, "1");
  EXPECT_EQ(inventory.gpus[2].gpu->identity().uuid, "GPU-c");
  EXPECT_EQ(inventory.cpus.size(), 1U);
  ASSERT_EQ(inventory.backends.size(), 2U);
  EXPECT_EQ(inventory.backends[0].summary, "driver 1");
}

TEST(Inventory, ABackEndThatFailsIsAProblemAndTheOthersGoOn) {
  test::FakeBackend broken{"broken"};
  broken.its_error = Error{ErrorKind::unavailable, "the library cannot be loaded", "reinstall it"};
  test::FakeBackend working{"working"};
  working.its_discovery.gpus = {{gpu("GPU-a", "1"), nullptr}};
  const std::vector<Backend*> backends{&broken, &working};
  const Inventory inventory = take_inventory(backends);
  EXPECT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.problems, (std::vector<Problem>{{"broken", "the library cannot be loaded", "reinstall it"}}));
}

}  // namespace
}  // namespace zeus::device
