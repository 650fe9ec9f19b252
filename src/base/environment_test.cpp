#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace zeus {
namespace {

TEST(Environment, UnsetAndEmptyAreDifferent) {
  const Environment environment{{{"CUDA_VISIBLE_DEVICES", ""}}};
  EXPECT_EQ(environment.get("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(environment.get("HIP_VISIBLE_DEVICES"), std::nullopt);
}

TEST(Environment, IsACopyOfTheProcessAsItWas) {
  ASSERT_EQ(::setenv("ZEUS_ENVIRONMENT_TEST", "a=b", 1), 0);
  const Environment environment = Environment::of_process();
  ASSERT_EQ(::unsetenv("ZEUS_ENVIRONMENT_TEST"), 0);
  EXPECT_EQ(environment.get("ZEUS_ENVIRONMENT_TEST"), "a=b");
}

}  // namespace
}  // namespace zeus
