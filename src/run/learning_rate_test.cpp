#include "run/learning_rate.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::run {
namespace {

TEST(LearningRate, ScalesLinearlyOrWithTheSquareRoot) {
  EXPECT_DOUBLE_EQ(parse_learning_rate("128:0.1", RateScaling::linear).at(256), 0.2);
  EXPECT_DOUBLE_EQ(parse_learning_rate("128:0.1", RateScaling::linear).at(32), 0.025);
  EXPECT_DOUBLE_EQ(parse_learning_rate("128:1e-3", RateScaling::square_root).at(512), 2e-3);
}

TEST(LearningRate, IsItselfAtItsBatchSize) {
  EXPECT_EQ(parse_learning_rate("128:0.1", RateScaling::square_root).at(128), 0.1);
}

TEST(LearningRate, RefusesWhatIsNotASizeAndARate) {
  for (const char* const text : {"", "128", "128:", ":0.1", "0:0.1", "-8:0.1", "128:0", "128:-1", "128:nan", "128:inf",
                                 "128:0.1x", "a:b", "128 :0.1", "1e400:1"}) {
    EXPECT_THROW((void)parse_learning_rate(text, RateScaling::linear), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::run
