// What the visitors of an arena vote, as a file with a line of JSON for each vote, and what they add up to. A vote is
// on disk before its voter is answered. The file belongs to one thread at a time; the rest are pure functions.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "records/wall_time_json.hpp"

#include <zeus/energy.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::serving {

// What an answer was and took, by the servers `a` and `b` of an arena.
struct JudgedAnswer {
  std::string url = {};
  std::string model = {};
  Seconds time = {};
  std::optional<std::uint64_t> output_tokens = {};
  std::optional<Energy> energy = {};
  std::string why_no_tokens = {};
  std::string why_no_energy = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("url", self.url);
    fields("model", self.model);
    fields("time", self.time, field::duration);
    fields("output_tokens", self.output_tokens, field::because(self.why_no_tokens));
    fields("energy", self.energy, field::because(self.why_no_energy));
  }
  friend bool operator==(const JudgedAnswer&, const JudgedAnswer&) = default;
};

enum class Better { a, b, neither };

constexpr auto names_of(Better /*better*/) {
  return std::array<field::Name<Better>, 3>{{{Better::a, "a"}, {Better::b, "b"}, {Better::neither, "neither"}}};
}

// The first vote on two answers.
struct BetterVote {
  static constexpr std::string_view kind = "better";
  std::string id = {};
  WallTime at = {};
  JudgedAnswer a = {};
  JudgedAnswer b = {};
  Better better = Better::neither;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("at", self.at);
    fields("a", self.a);
    fields("b", self.b);
    fields("better", self.better);
  }
  friend bool operator==(const BetterVote&, const BetterVote&) = default;
};

// The second one: whether the better answer was worth the energy that it took more.
struct WorthVote {
  static constexpr std::string_view kind = "worth";
  std::string id = {};  // of the first vote
  bool worth = false;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("worth", self.worth);
  }
  friend bool operator==(const WorthVote&, const WorthVote&) = default;
};

using Vote = std::variant<BetterVote, WorthVote>;

class VoteFile {
 public:
  // Makes the file if there is none, for its user alone.
  explicit VoteFile(const std::filesystem::path& file);
  // On disk when it returns.
  void append(const Vote& vote);

 private:
  std::string name_;
  FileDescriptor file_;
  bool ends_within_a_line_ = false;
};

struct ReadVotes {
  std::vector<Vote> votes = {};
  std::size_t unread_lines = 0;  // that are no votes
};
ReadVotes read_votes(std::string_view lines);

// What was voted on the answers of two models.
struct VoteCounts {
  std::string first = {};
  std::string second = {};
  std::uint64_t first_better = 0;
  std::uint64_t second_better = 0;
  std::uint64_t neither = 0;
  std::uint64_t worth = 0;
  std::uint64_t not_worth = 0;

  [[nodiscard]] std::uint64_t votes() const { return first_better + second_better + neither; }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("first", self.first);
    fields("second", self.second);
    fields("first_better", self.first_better);
    fields("second_better", self.second_better);
    fields("neither", self.neither);
    fields("worth", self.worth);
    fields("not_worth", self.not_worth);
  }
};
// By their names, ascending; a model that was compared with one of the same name has its URL in its name.
std::vector<VoteCounts> count_votes(std::span<const Vote> votes);

}  // namespace zeus::serving
