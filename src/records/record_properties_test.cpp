#include "tests/support/record_properties.hpp"

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/power_profile.hpp"

namespace zeus::records {
namespace {

template <typename Record>
class RecordTest : public testing::Test {};

struct Names {
  template <typename Record>
  static std::string GetName(int /*index*/) {
    if constexpr (std::is_same_v<Record, Energy>) {
      return "Energy";
    } else if constexpr (std::is_same_v<Record, PowerProfile>) {
      return "PowerProfile";
    } else if constexpr (std::is_same_v<Record, LimitProfile>) {
      return "LimitProfile";
    } else if constexpr (std::is_same_v<Record, JobDefinition>) {
      return "JobDefinition";
    } else {
      return "JobEntry";
    }
  }
};

using Records = testing::Types<Energy, PowerProfile, LimitProfile, JobDefinition, JobEntry>;
TYPED_TEST_SUITE(RecordTest, Records, Names);

TYPED_TEST(RecordTest, ReadsBackItsOwnFormAndNoOther) {
  test::expect_properties<TypeParam>({"learning_rate", "zeus", "whole_epochs", "beside_steps", "user", "lease_s", "why",
                                      "failed", "request", "asked", "epoch_time_uncertainty_s",
                                      "average_power_uncertainty_w"});
}

}  // namespace
}  // namespace zeus::records
