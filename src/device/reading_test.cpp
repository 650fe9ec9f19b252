#include "device/outcome.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::device {
namespace {

TEST(Reading, IsAValueOrAReason) {
  const Reading<Watts> there = 250_W;
  ASSERT_TRUE(there);
  EXPECT_EQ(*there, 250_W);
  EXPECT_EQ(there.optional(), 250_W);

  const Reading<Watts> refused = Failure{Reason::permission, "the sensor is for root only"};
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().reason, Reason::permission);
  EXPECT_EQ(refused.optional(), std::nullopt);
  EXPECT_EQ(to_string(refused.failure()), "not permitted (the sensor is for root only)");

  const Reading<Watts> unsaid = Reason::timeout;
  EXPECT_EQ(to_string(unsaid.failure()), "timed out");
}

TEST(Reading, ADefaultReadingIsAnUnknownFailureWithoutAValue) {
  const Reading<Watts> nothing;
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.failure().reason, Reason::unknown);
}

TEST(Reading, AValueOutlivesTheReadingItCameFrom) {
  const auto& names = *Reading<std::vector<std::string>>{{"a", "b"}};
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST(Reading, AnOutcomeSaysWhetherItWasDone) {
  EXPECT_TRUE(Outcome{done});
  EXPECT_FALSE(Outcome{Reason::out_of_range});
}

TEST(Reading, AFailureBecomesAnErrorOfItsKindThatNamesTheThing) {
  EXPECT_EQ(Reading<Watts>{1_W}.or_throw("the power of GPU 0"), 1_W);
  const std::vector<std::pair<Reason, ErrorKind>> kinds{
      {Reason::unsupported, ErrorKind::unavailable}, {Reason::permission, ErrorKind::permission_denied},
      {Reason::lost, ErrorKind::unavailable},        {Reason::timeout, ErrorKind::timeout},
      {Reason::unreliable, ErrorKind::unavailable},  {Reason::out_of_range, ErrorKind::invalid_argument},
      {Reason::unknown, ErrorKind::unavailable},
  };
  for (const auto& [reason, kind] : kinds) {
    try {
      static_cast<void>(Reading<Watts>{reason}.or_throw("the power of GPU 0"));
      FAIL() << to_string(reason);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << to_string(reason);
      EXPECT_TRUE(error.message().starts_with("the power of GPU 0: ")) << error.message();
      EXPECT_FALSE(error.advice().empty());
    }
  }
}

}  // namespace
}  // namespace zeus::device
