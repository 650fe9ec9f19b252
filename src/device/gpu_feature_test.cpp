#include "device/gpu_feature.hpp"

#include "device/gpu.hpp"

#include <gtest/gtest.h>

#include <set>

namespace zeus::device {
namespace {

TEST(GpuFeatures, NoFeatureIsThereBeforeItIsProbed) {
  GpuFeatures features;
  EXPECT_FALSE(features.has(GpuFeature::energy_counter));
  features.probe(GpuFeature::energy_counter, Reading<int>{1});
  features.probe(GpuFeature::temperature, Reading<int>{Failure{Reason::permission, "root only"}});
  EXPECT_TRUE(features.has(GpuFeature::energy_counter));
  EXPECT_FALSE(features.has(GpuFeature::mig));
  EXPECT_EQ(features[GpuFeature::temperature].failure(), (Failure{Reason::permission, "root only"}));
}

TEST(GpuFeatures, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < gpu_feature_count; ++i) {
    names.insert(to_string(static_cast<GpuFeature>(i)));
  }
  EXPECT_EQ(names.size(), gpu_feature_count);
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(to_string(GpuFeature::mig), "MIG");
}

TEST(GpuFeatures, EveryKindOfPowerHasAFeature) {
  EXPECT_EQ(power_feature(PowerKind::instant, PowerScope::gpu), GpuFeature::instant_power);
  EXPECT_EQ(power_feature(PowerKind::plain, PowerScope::gpu), GpuFeature::plain_power);
  EXPECT_EQ(power_feature(PowerKind::average, PowerScope::module), GpuFeature::module_average_power);
  EXPECT_EQ(power_feature(PowerKind::average, PowerScope::memory), GpuFeature::memory_average_power);
  EXPECT_EQ(power_feature(PowerKind::instant, PowerScope::memory), std::nullopt);
  EXPECT_EQ(power_feature(PowerKind::plain, PowerScope::module), std::nullopt);
}

}  // namespace
}  // namespace zeus::device
