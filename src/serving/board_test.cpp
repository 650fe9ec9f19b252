#include "serving/board.hpp"

#include "serving/votes.hpp"
#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zeus::serving {
namespace {

Energy energy_of(double joules, double half_width) {
  Energy energy;
  energy.value = Joules{joules};
  energy.set_uncertainty(Joules{half_width}, Joules{0});
  return energy;
}

Times times_of_value(double seconds) {
  const TimePercentile one{.value = Seconds{seconds}, .low = Seconds{seconds * 0.9}, .high = Seconds{seconds * 1.1}};
  return {.mean = {seconds, seconds / 10}, .p50 = one, .p90 = one, .p95 = one, .p99 = one};
}

BoardEntry entry_of(const std::string& model, std::uint64_t in_flight, double joules, double between) {
  BoardEntry entry{.name = "results/" + model + "-" + std::to_string(in_flight) + ".json", .result = {}};
  BenchResult& result = entry.result;
  result.model = model;
  result.in_flight = in_flight;
  result.gpus = {{.index = 0, .uuid = "GPU-0", .name = "NVIDIA A100-SXM4-40GB"}};
  result.answers.failed = in_flight == 64 ? 3 : 0;
  result.steady.energy_per_output_token = energy_of(joules, joules / 50);
  result.steady.energy_per_answer = energy_of(joules * 128, joules * 3);
  result.steady.power = Figure{250, 1};
  result.steady.output_tokens_per_second = Figure{250 / joules, 2};
  result.steady.time_to_first_token = times_of_value(between * 4);
  result.steady.time_between_tokens = times_of_value(between);
  result.steady.time_per_answer = times_of_value(between * 128);
  return entry;
}

std::vector<BoardEntry> several() {
  std::vector<BoardEntry> entries{entry_of("small", 1, 2.0, 0.010), entry_of("small", 8, 0.5, 0.014),
                                  entry_of("small", 64, 0.2, 0.030), entry_of("small", 32, 0.6, 0.025),
                                  entry_of("large", 8, 3.1, 0.040)};
  entries.push_back({.name = "results/short.json", .result = {}});
  entries.back().result.model = "small";
  entries.back().result.rate = 2.5;
  entries.back().result.steady.why_no_energy_per_token = "the run is too short";
  return entries;
}

TEST(Board, AFrontierHasWhatNoOtherBeatsInBoth) {
  EXPECT_EQ(frontier(several(), "small"), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(frontier(several(), "large"), (std::vector<std::size_t>{4}));
  EXPECT_TRUE(frontier(several(), "none").empty());
}

TEST(Board, MatchesTheReviewedPage) {
  const std::vector<VoteCounts> votes{{.first = "large",
                                       .second = "small",
                                       .first_better = 12,
                                       .second_better = 5,
                                       .neither = 3,
                                       .worth = 4,
                                       .not_worth = 7}};
  test::expect_golden("report/board.html", board_page(several(), votes));
}

TEST(Comparison, ADifferenceIsClearIfItsIntervalLeavesNothingOut) {
  const auto entries = several();
  const Comparison clear = compare(entries[1].result, entries[2].result);
  ASSERT_TRUE(clear.figures.front().change);
  EXPECT_NEAR(clear.figures.front().change->value, -0.6, 1e-9);
  EXPECT_NEAR(clear.figures.front().change->uncertainty, 0.4 * 0.02 * 1.41421, 1e-4);
  EXPECT_TRUE(clear.figures.front().is_clear());
  EXPECT_EQ(clear.differences, (std::vector<std::string>{"load: 8 in flight and 64 in flight"}));
  BenchResult near = entries[1].result;
  near.steady.energy_per_output_token = energy_of(0.505, 0.01);
  EXPECT_FALSE(compare(entries[1].result, near).figures.front().is_clear());
}

TEST(Comparison, NamesThatOnlyOneMadeAnswersGoOn) {
  const BenchResult first = several()[1].result;
  BenchResult second = first;
  second.ignore_eos = true;
  EXPECT_EQ(compare(first, second).differences, (std::vector<std::string>{"ignore_eos: false and true"}));
}

TEST(Comparison, OfWhatIsUnknownIsUnknownWithTheReason) {
  const auto entries = several();
  const Comparison comparison = compare(entries[0].result, entries.back().result);
  EXPECT_FALSE(comparison.figures.front().change);
  EXPECT_EQ(comparison.figures.front().why_unknown, "the second has no such figure, or no interval of it");
}

}  // namespace
}  // namespace zeus::serving
