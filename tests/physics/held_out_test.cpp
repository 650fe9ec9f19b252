// How well the built-in profiles predict the held-out rows of the published power traces. The figures are those of
// docs/physics.md; bench/fit_physics.cpp prints them row by row.

#include "physics/fitted.hpp"
#include "tests/support/power_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace zeus::test {
namespace {

using physics::EpochObservation;
using physics::FittedProfile;
using physics::GpuModel;

struct Card {
  std::string name;
  std::span<const FittedProfile> profiles;

  friend std::ostream& operator<<(std::ostream& out, const Card& card) { return out << card.name; }
};

// Rows for which the model is off by more than 15 %, although no rule contradicts them: without a separate memory share
// for each workload, the model is too fast for these two just above the lowest enforceable power.
const std::set<std::tuple<std::string, int, int>> known_misses{{"cifar100/shufflenetv2/adadelta", 1024, 125},
                                                               {"imagenet/resnet50/adadelta", 16, 125}};

class HeldOut : public ::testing::TestWithParam<Card> {
 protected:
  void SetUp() override {
    const auto folder = published_traces();
    if (!folder) {
      GTEST_SKIP() << "the published traces are not beside this checkout";
    }
    std::string file = "summary_power_" + GetParam().name + ".csv";
    std::ranges::transform(file, file.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    groups_ = read_power_trace(*folder / file);
  }

  [[nodiscard]] const FittedProfile& profile_of(const TraceGroup& group) const {
    const auto found = std::ranges::find_if(GetParam().profiles, [&](const FittedProfile& row) {
      return row.workload == group.workload && row.batch_size == group.batch_size;
    });
    EXPECT_NE(found, GetParam().profiles.end()) << group.workload << " " << group.batch_size;
    return *found;
  }

  const GpuModel& model_ = physics::preset(GetParam().name);
  std::vector<TraceGroup> groups_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

TEST_P(HeldOut, TimeAndPowerAreWithinFourPercentMedianAndFifteenWorst) {
  std::vector<double> times;
  std::vector<double> powers;
  std::size_t broken = 0;
  for (const TraceGroup& group : groups_) {
    const FittedProfile& fitted = profile_of(group);
    for (const EpochObservation& seen : group.held_out) {
      if (breaks_physics(group, seen, model_.power.waiting)) {
        ++broken;
        continue;
      }
      const EpochObservation said = predict(model_, seen.limit, fitted.profile);
      times.push_back(std::abs(said.time / seen.time - 1.0));
      powers.push_back(std::abs(said.power / seen.power - 1.0));
      const int limit = static_cast<int>(seen.limit.value());
      const double worst = known_misses.contains({group.workload, group.batch_size, limit}) ? 0.20 : 0.15;
      EXPECT_LE(times.back(), worst) << group.workload << " batch size " << group.batch_size << " at " << limit << " W";
      EXPECT_LE(powers.back(), worst) << group.workload << " batch size " << group.batch_size << " at " << limit
                                      << " W";
    }
  }
  EXPECT_LE(median(times), 0.04);
  EXPECT_LE(median(powers), 0.04);
  EXPECT_LE(broken, groups_.size() / 4) << "so many rows cannot all be wrong";
}

// The built-in values are the result of the fit, and were not tuned to the rows above.
TEST_P(HeldOut, TheBuiltInProfilesAreThoseOfTheFittedRows) {
  for (std::size_t i = 0; i < groups_.size(); i += 5) {
    const physics::TrainingProfile& built_in = profile_of(groups_[i]).profile;
    const physics::TrainingProfile found = fit_profile(model_, groups_[i].fitted);
    EXPECT_NEAR(found.epoch / built_in.epoch, 1.0, 1e-3) << groups_[i].workload << " " << groups_[i].batch_size;
    EXPECT_NEAR(found.busy, built_in.busy, 1e-3);
    EXPECT_NEAR(found.activity, built_in.activity, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, HeldOut,
                         ::testing::Values(Card{"V100", physics::v100_profiles()},
                                           Card{"A40", physics::a40_profiles()}));

}  // namespace
}  // namespace zeus::test
