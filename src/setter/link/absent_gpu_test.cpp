#include "setter/link/absent_gpu.hpp"

#include "tests/support/settable_gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::setter {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> uuids_with(const std::vector<int>& indices) {
  std::vector<device::DiscoveredGpu> gpus;
  for (const int index : indices) {
    gpus.push_back(test::discovered(std::make_shared<test::SettableGpu>(index)));
  }
  std::vector<std::string> uuids;
  for (const device::DiscoveredGpu& gpu : with_absent_gpus(std::move(gpus))) {
    uuids.push_back(gpu.gpu->identity().uuid);
  }
  return uuids;
}

TEST(AbsentGpu, TakesThePlaceOfAnUnopenableGpuSoThatOthersKeepTheirNumbers) {
  EXPECT_THAT(uuids_with({0, 1}), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_THAT(uuids_with({1}), ElementsAre("absent-0", "GPU-1"));
  EXPECT_THAT(uuids_with({0, 3}), ElementsAre("GPU-0", "absent-1", "absent-2", "GPU-3"));
}

TEST(AbsentGpu, IsLostAndCannotBeSet) {
  const auto gpus = with_absent_gpus({test::discovered(std::make_shared<test::SettableGpu>(1))});
  const device::DiscoveredGpu& absent = gpus.front();
  EXPECT_EQ(absent.gpu->energy().failure().reason, Reason::lost);
  EXPECT_EQ(absent.gpu->power(PowerKind::plain, PowerScope::gpu).failure().reason, Reason::lost);
  EXPECT_EQ(absent.gpu->power_limits().current.failure().reason, Reason::lost);
  EXPECT_FALSE(absent.gpu->reopen());
  EXPECT_EQ(absent.control, nullptr);
  EXPECT_TRUE(is_absent(*absent.gpu));
  EXPECT_FALSE(is_absent(*gpus.back().gpu));
}

}  // namespace
}  // namespace zeus::setter
