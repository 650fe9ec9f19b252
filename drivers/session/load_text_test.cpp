#include "drivers/session/load_text.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

TEST(LoadText, ReadsEachKind) {
  EXPECT_EQ(std::get<ConstantLoad>(parse_load("constant:200W")).power, 200_W);
  const auto square = std::get<SquareLoad>(parse_load("square:80-300W,200ms"));
  EXPECT_EQ(square.low, 80_W);
  EXPECT_EQ(square.high, 300_W);
  EXPECT_DOUBLE_EQ(square.period.value(), 0.2);
  EXPECT_EQ(std::get<TableLoad>(parse_load("a b/day.csv")).file, "a b/day.csv");
  EXPECT_EQ(std::get<FollowLoad>(parse_load("follow:resnet50")).workload, "resnet50");
  EXPECT_EQ(std::get<WorkLoad>(parse_load("work:0.9,0.5,0.25")).memory, 0.25);
  EXPECT_FALSE(std::get<WorkLoad>(parse_load("work:0.9,0.5,0.25")).followed);
  EXPECT_EQ(std::get<WorkLoad>(parse_load("follow:work:0.9,0.5,0.25")).memory, 0.25);
  EXPECT_TRUE(std::get<WorkLoad>(parse_load("follow:work:0.9,0.5,0.25")).followed);
  EXPECT_TRUE(std::holds_alternative<IdleLoad>(parse_load("idle")));
}

TEST(LoadText, TheFirstPowerOfASquareHasTheUnitOfTheSecond) {
  EXPECT_EQ(std::get<SquareLoad>(parse_load("square:0.08-0.3kW,1s")).low, 80_W);
  EXPECT_EQ(std::get<SquareLoad>(parse_load("square:80W-0.3kW,1s")).low, 80_W);
  EXPECT_EQ(std::get<SquareLoad>(parse_load("square:80-300,1s")).high, 300_W);
}

class RefusedLoad : public testing::TestWithParam<std::string> {};

TEST_P(RefusedLoad, IsAnInvalidArgument) {
  try {
    (void)parse_load(GetParam());
    FAIL() << GetParam();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RefusedLoad,
                         testing::Values("", "constant", "constant:", "constant:-5W", "constant:5V", "constant:1e9W",
                                         "square:", "square:80W", "square:80-300W", "square:300-80W,1s",
                                         "square:80-300W,0s", "square:80-300W,1us", "square:80-300W,9000h",
                                         "square:-300W,1s", "follow:", "follow:work:1", "work:1,1", "work:2,1,1",
                                         "work:a,b,c", "work:1,1,1,1", "csv", "loud"));

TEST(PowerTable, ReadsRowsWithAHeaderCommentsAndWindowsLineEnds) {
  const auto points = parse_power_table("seconds,watts\r\n0,80\r\n\r\n# a pause\n 1.5 , 250.25 \n", "f.csv");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].after, 0_s);
  EXPECT_EQ(points[1].after, 1.5_s);
  EXPECT_EQ(points[1].demand.power, 250.25_W);
}

TEST(PowerTable, TakesNoRowForAHeader) {
  EXPECT_EQ(parse_power_table("\xef\xbb\xbf"
                              "0,100\n0.5,200\n",
                              "f.csv")
                .size(),
            2U)
      << "a byte order mark begins it";
  EXPECT_EQ(parse_power_table("\xef\xbb\xbf"
                              "seconds,watts\n0,100\n",
                              "f.csv")
                .size(),
            1U);
  EXPECT_THROW((void)parse_power_table("O,100\n0.5,200\n", "f.csv"), Error) << "a letter in place of a zero";
}

TEST(PowerTable, NamesFileAndLineOfWhatIsWrong) {
  const auto refusal = [](std::string_view content) -> std::string {
    try {
      (void)parse_power_table(content, "f.csv");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal(""), "f.csv has no row of seconds,watts; write for example 12.5,200");
  EXPECT_EQ(refusal("seconds,watts\n"), "f.csv has no row of seconds,watts; write for example 12.5,200");
  EXPECT_THAT(refusal("0,80\nx"), testing::StartsWith("f.csv, line 2: 'x' is not seconds,watts"));
  EXPECT_THAT(refusal("1,80\n1,90"), testing::StartsWith("f.csv, line 2: the time does not increase"));
  EXPECT_THAT(refusal("0,nan"), testing::StartsWith("f.csv, line 1: '0,nan' is not"));
  EXPECT_THAT(refusal("-1,80"), testing::StartsWith("f.csv, line 1:"));
  EXPECT_THAT(refusal("0,1e9"), testing::HasSubstr("seconds first, then watts"));
  EXPECT_THAT(refusal("a,b\nc,d\n0,5"), testing::StartsWith("f.csv, line 2:"));
}

}  // namespace
}  // namespace zeus::drivers
