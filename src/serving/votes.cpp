#include "serving/votes.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>
#include <utility>

namespace zeus::serving {

namespace {

constexpr records::JsonForm vote_form{.refusal = "this is not a vote", .newer = true};

// The names of both models.
std::pair<std::string, std::string> names_in(const BetterVote& vote) {
  const bool same = vote.a.model == vote.b.model;
  const auto name = [&](const JudgedAnswer& one) {
    return same ? fmt::format("{} at {}", one.model, one.url) : one.model;
  };
  return {name(vote.a), name(vote.b)};
}

}  // namespace

VoteFile::VoteFile(const std::filesystem::path& file)
    : name_{file.string()}, file_{::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600)} {
  if (!file_) {
    throw system_failure(errno, fmt::format("cannot open {} for votes", name_));
  }
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  if (size < 0) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not a file to append votes to", name_), "name a file"};
  }
  char last = '\n';
  ends_within_a_line_ = size > 0 && (::pread(file_.get(), &last, 1, size - 1) != 1 || last != '\n');
}

void VoteFile::append(const Vote& vote) {
  // After a write that was cut short, such as on a full disk.
  const std::string line = (ends_within_a_line_ ? "\n" : "") + records::json_line(vote) + '\n';
  ends_within_a_line_ = true;
  write_all(file_, line, name_);
  ends_within_a_line_ = false;
  if (::fdatasync(file_.get()) != 0) {
    throw system_failure(errno, fmt::format("cannot write {}", name_));
  }
}

ReadVotes read_votes(std::string_view lines) {
  ReadVotes read;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    try {
      if (!line.empty()) {
        read.votes.push_back(records::record_from_json<Vote>(line, vote_form));
      }
    } catch (const Error&) {
      ++read.unread_lines;
    }
  }
  return read;
}

std::vector<VoteCounts> count_votes(std::span<const Vote> votes) {
  std::map<std::pair<std::string, std::string>, VoteCounts> counts;
  std::map<std::string_view, VoteCounts*> counted;  // by the first vote's ID
  for (const Vote& vote : votes) {
    if (const auto* const worth = std::get_if<WorthVote>(&vote)) {
      if (const auto first = counted.find(worth->id); first != counted.end()) {
        ++(worth->worth ? first->second->worth : first->second->not_worth);
      }
      continue;
    }
    const auto& better = std::get<BetterVote>(vote);
    if (counted.contains(better.id)) {
      continue;  // voted again, since the first time was on disk and could not be said to be
    }
    auto names = names_in(better);
    const bool turned = names.first > names.second;
    if (turned) {
      std::swap(names.first, names.second);
    }
    VoteCounts& both = counts[names];
    std::tie(both.first, both.second) = names;
    const bool is_first = (better.better == Better::a) != turned;
    ++(better.better == Better::neither ? both.neither : is_first ? both.first_better : both.second_better);
    counted[better.id] = &both;
  }
  std::vector<VoteCounts> all;
  for (auto& [names, both] : counts) {
    all.push_back(std::move(both));
  }
  return all;
}

}  // namespace zeus::serving
