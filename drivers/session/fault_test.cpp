#include "drivers/session/fault.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

TEST(Fault, ReadsALineWithAllItsOptions) {
  const Fault fault = *parse_fault("slow delay=200ms gpu=1 from=5s for=10s times=3 call=nvmlDeviceGet*  # a comment");
  EXPECT_EQ(fault.kind, FaultKind::slow);
  EXPECT_EQ(fault.gpu, 1U);
  EXPECT_EQ(fault.delay, 0.2_s);
  EXPECT_EQ(fault.from, 5_s);
  EXPECT_EQ(fault.lasts, 10_s);
  EXPECT_EQ(fault.times, 3U);
  EXPECT_TRUE(fault.matches("nvmlDeviceGetPowerUsage"));
  EXPECT_FALSE(fault.matches("nvmlDeviceSetPersistenceMode"));
}

TEST(Fault, LastsFromItsBeginningToItsEnd) {
  const Fault fault = *parse_fault("lost from=5s for=10s");
  EXPECT_FALSE(fault.active(4.9_s));
  EXPECT_TRUE(fault.active(5_s));
  EXPECT_TRUE(fault.active(14.9_s));
  EXPECT_FALSE(fault.active(15_s));
  EXPECT_TRUE(parse_fault("lost")->active(1e6_s));
}

TEST(Fault, PermissionConcernsWhatSets) {
  const Fault fault = *parse_fault("permission");
  EXPECT_TRUE(fault.matches("nvmlDeviceSetPowerManagementLimit"));
  EXPECT_TRUE(fault.matches("nvmlDeviceResetGpuLockedClocks"));
  EXPECT_TRUE(fault.matches("amdsmi_set_power_cap"));
  EXPECT_FALSE(fault.matches("nvmlDeviceGetPowerUsage"));
}

TEST(Fault, StarsStandForAnyText) {
  const Fault fault = *parse_fault("timeout call=*Get*Usage");
  EXPECT_TRUE(fault.matches("nvmlDeviceGetPowerUsage"));
  EXPECT_TRUE(fault.matches("nvmlDeviceGetUsageOfUsage"));
  EXPECT_FALSE(fault.matches("nvmlDeviceGetPowerUsages"));
}

TEST(Fault, IgnoresEmptyLinesAndComments) {
  EXPECT_EQ(parse_fault(""), std::nullopt);
  EXPECT_EQ(parse_fault(" \t "), std::nullopt);
  EXPECT_EQ(parse_fault("# lost"), std::nullopt);
}

struct Refused {
  const char* line;
  const char* because;

  friend std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.line; }
};

class RefusedFault : public testing::TestWithParam<Refused> {};

TEST_P(RefusedFault, IsOneLineThatSaysWhatIsWrong) {
  try {
    (void)parse_fault(GetParam().line);
    FAIL() << GetParam().line;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().because));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedFault,
    testing::Values(
        Refused{"explode", "'explode' is not a fault; use permission"}, Refused{"lost gpu=x", "not a whole number"},
        Refused{"lost gpu", "'gpu' is not an option"}, Refused{"lost from=soon", "not a time"},
        Refused{"lost for=0", "would never happen"}, Refused{"slow", "add delay=200ms"},
        Refused{"wrap", "add by=1000J"}, Refused{"backward by=-5J", "not an energy"},
        Refused{"wrap by=nanJ", "not an energy"}, Refused{"lower", "add by=20W"},
        Refused{"lower by=5 W", "'W' is not an option"}, Refused{"unsupported", "needs the name of a call"},
        Refused{"reset times=2", "'times' goes only with"}, Refused{"reset call=x", "'call' is not an option"},
        Refused{"lost color=red", "'color' is not an option"}, Refused{"lost by=5J", "'by' goes only with"}));

TEST(Faults, AFileNamesTheLineThatIsWrong) {
  EXPECT_EQ(parse_faults("lost gpu=0\n\n# nothing\nreset from=2s", 1).size(), 2U);
  try {
    (void)parse_faults("lost\r\nlost gpu=4\n", 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "line 2: there is no virtual GPU 4; count from 0 to 3");
  }
}

}  // namespace
}  // namespace zeus::drivers
