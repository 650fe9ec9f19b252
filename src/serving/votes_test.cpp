#include "serving/votes.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace zeus::serving {
namespace {

BetterVote vote_of(const std::string& id, const std::string& a, const std::string& b, Better better) {
  BetterVote vote{.id = id, .better = better};
  vote.a.model = a;
  vote.a.url = "http://127.0.0.1:1";
  vote.b.model = b;
  vote.b.url = "http://127.0.0.1:2";
  return vote;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(VoteFile, HasEveryVoteEvenAfterALineThatWasCutShort) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "votes.jsonl";
  VoteFile{file}.append(vote_of("1", "x", "y", Better::a));
  std::ofstream{file, std::ios::app} << R"({"kind":"bett)";
  VoteFile votes{file};
  votes.append(vote_of("2", "x", "y", Better::b));
  votes.append(WorthVote{.id = "2", .worth = true});
  const ReadVotes read = read_votes(content_of(file));
  EXPECT_EQ(read.unread_lines, 1U);
  EXPECT_EQ(read.votes, (std::vector<Vote>{vote_of("1", "x", "y", Better::a), vote_of("2", "x", "y", Better::b),
                                           WorthVote{.id = "2", .worth = true}}));
}

TEST(VoteCounts, AreOfTwoModelsWhicheverWasNamedFirst) {
  const std::vector<Vote> votes{
      vote_of("1", "x", "y", Better::a),         vote_of("2", "y", "x", Better::a),
      vote_of("3", "y", "x", Better::b),         vote_of("4", "x", "y", Better::neither),
      WorthVote{.id = "1", .worth = true},       WorthVote{.id = "2", .worth = false},
      WorthVote{.id = "unknown", .worth = true}, vote_of("1", "x", "y", Better::a)};  // once more
  const auto counts = count_votes(votes);
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].first, "x");
  EXPECT_EQ(counts[0].first_better, 2U);
  EXPECT_EQ(counts[0].second_better, 1U);
  EXPECT_EQ(counts[0].neither, 1U);
  EXPECT_EQ(counts[0].worth, 1U);
  EXPECT_EQ(counts[0].not_worth, 1U);
}

TEST(VoteCounts, OfModelsOfOneNameHaveTheirUrls) {
  const auto counts = count_votes(std::vector<Vote>{vote_of("1", "x", "x", Better::b)});
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].first, "x at http://127.0.0.1:1");
  EXPECT_EQ(counts[0].second_better, 1U);
}

}  // namespace
}  // namespace zeus::serving
