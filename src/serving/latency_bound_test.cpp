#include "serving/latency_bound.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {
namespace {

std::string refusal_of_bound(std::string_view text) {
  try {
    static_cast<void>(read_bounds(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.message();
  }
  return {};
}

TEST(LatencyBounds, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(read_bounds("ttft=0.5s,itl=50ms@99"),
            (std::vector<LatencyBound>{{Timed::first, Seconds{0.5}, 95}, {Timed::between, Seconds{0.05}, 99}}));
  EXPECT_EQ(read_bounds("e2el=2min@50"), (std::vector<LatencyBound>{{Timed::whole, Seconds{120}, 50}}));
  for (const char* const wrong : {"", "ttft", "ttft=", "ttft=0s", "ttft=1s@98", "ttft=1s@", "tpot=1s", "ttft=1s,"}) {
    EXPECT_NE(refusal_of_bound(wrong), "") << wrong;
  }
}

}  // namespace
}  // namespace zeus::serving
