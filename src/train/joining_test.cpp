#include "train/joining.hpp"

#include "train/summed_energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace zeus::train {
namespace {

// Does what Ranks::agree() does, for ranks whose records lie side by side; the first rank leads.
template <typename Record>
void agree(std::vector<Record>& ranks) {
  std::vector<Joining> joinings;
  for (Record& rank : ranks) {
    joinings.emplace_back(joinings.empty());
    rank.joined(joinings.back());
  }
  std::vector<double> sums(joinings[0].sums().size());
  std::vector<double> largest(joinings[0].largest().size());
  for (Joining& one : joinings) {
    std::ranges::transform(sums, one.sums(), sums.begin(), [](double a, double b) { return a + b; });
    std::ranges::transform(largest, one.largest(), largest.begin(), [](double a, double b) { return std::max(a, b); });
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::ranges::copy(sums, joinings[i].sums().begin());
    std::ranges::copy(largest, joinings[i].largest().begin());
    joinings[i].hand_out();
    ranks[i].joined(joinings[i]);
  }
}

enum class Mood { calm, uneasy, furious };

struct Everything {
  Joules added;
  Seconds longest;
  Mood worst = Mood::calm;
  bool one_of_them = false;
  std::optional<double> share;
  std::uint64_t steps = 0;
  std::optional<Mood> verdict;
  records::PowerSetting setting;

  void joined(Joining& join) {
    join.sum(added);
    join.largest(longest);
    join.largest(worst);
    join.any(one_of_them);
    join.largest(share);
    join.leaders(steps);
    join.leaders(verdict);
    join.leaders(setting);
  }
  friend bool operator==(const Everything&, const Everything&) = default;
};

TEST(Joining, EachFieldBecomesWhatTheRecordDeclares) {
  std::vector<Everything> ranks(3);
  ranks[0] = {.added = 1_J,
              .longest = 4_s,
              .worst = Mood::uneasy,
              .one_of_them = false,
              .share = {},
              .steps = 7,
              .verdict = Mood::calm,
              .setting = {.limit = 250_W, .clock = 900_MHz}};
  ranks[1] = {.added = 20_J,
              .longest = 3_s,
              .worst = Mood::calm,
              .one_of_them = true,
              .share = 0.25,
              .steps = 9,
              .verdict = Mood::furious,
              .setting = {.limit = 300_W, .clock = {}}};
  ranks[2].added = 300_J;
  agree(ranks);
  const Everything expected{.added = 321_J,
                            .longest = 4_s,
                            .worst = Mood::uneasy,
                            .one_of_them = true,
                            .share = 0.25,
                            .steps = 7,
                            .verdict = Mood::calm,
                            .setting = {.limit = 250_W, .clock = 900_MHz}};
  for (const Everything& rank : ranks) {
    EXPECT_EQ(rank, expected);
  }
}

TEST(Joining, AValueUnknownToTheLeaderIsUnknownToAllRanks) {
  std::vector<Everything> ranks(2);
  ranks[1].verdict = Mood::uneasy;
  ranks[1].setting = {.limit = 300_W, .clock = 800_MHz};
  agree(ranks);
  EXPECT_EQ(ranks[1], Everything{});
}

struct Energies {
  SummedEnergy energy;
  void joined(Joining& join) { energy.joined(join); }
};

TEST(Joining, EnergiesAddTheirValuesAndOfTheirUncertaintiesWhatIsShared) {
  std::vector<Energies> ranks(2);
  ranks[0].energy.add({.value = 10_J, .uncertainty = 2_J, .systematic = 1_J, .own = 1, .shared = 0});
  ranks[0].energy.add({.value = 5_J, .uncertainty = 1_J, .systematic = 0_J});
  ranks[1].energy.add({.value = 20_J,
                       .uncertainty = 1_J,
                       .systematic = 2_J,
                       .method = EnergyMethod::integrated,
                       .own = 1,
                       .shared = 0});
  ranks[1].energy.add({.value = 30_J, .uncertainty = 2_J, .systematic = 3_J, .own = 1, .shared = 0});
  ranks[1].energy.add({.value = 5_J, .uncertainty = 3_J, .systematic = 0_J});
  agree(ranks);
  const Energy expected{.value = 70_J,
                        .uncertainty = 5_J,
                        .systematic = 6_J,
                        .method = EnergyMethod::integrated,
                        .own = 0.6,
                        .shared = 0.8};
  EXPECT_EQ(ranks[0].energy.energy(), expected);
  EXPECT_EQ(ranks[1].energy.energy(), expected);
}

TEST(Joining, ACalibrationBoundIsKnownOnlyIfAllAre) {
  std::vector<Energies> ranks(2);
  ranks[0].energy.add({.value = 10_J, .uncertainty = {}, .systematic = 1_J});
  ranks[1].energy.add({.value = 20_J, .uncertainty = {}, .systematic = {}});
  agree(ranks);
  EXPECT_FALSE(ranks[0].energy.energy().systematic);
  EXPECT_EQ(ranks[0].energy.energy().value, 30_J);
}

}  // namespace
}  // namespace zeus::train
