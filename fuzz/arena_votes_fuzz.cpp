// Any bytes are lines of votes or are counted as lines that are none; votes that are written are read again as the same
// ones.

#include "fuzz/require.hpp"
#include "records/json_writer.hpp"
#include "serving/votes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string lines_of(const std::vector<zeus::serving::Vote>& votes) {
  std::string lines;
  for (const zeus::serving::Vote& vote : votes) {
    lines += zeus::records::json_line(vote) + '\n';
  }
  return lines;
}

}  // namespace

extern "C" int fuzz_arena_votes(const std::uint8_t* data, std::size_t size) {
  const zeus::serving::ReadVotes read =
      zeus::serving::read_votes(std::string_view{reinterpret_cast<const char*>(data), size});
  const std::string written = lines_of(read.votes);
  const zeus::serving::ReadVotes again = zeus::serving::read_votes(written);
  zeus::fuzz::require(again.unread_lines == 0);
  zeus::fuzz::require(lines_of(again.votes) == written);
  std::uint64_t counted = 0;
  for (const zeus::serving::VoteCounts& one : zeus::serving::count_votes(read.votes)) {
    counted += one.votes();
  }
  zeus::fuzz::require(counted <= read.votes.size());
  return 0;
}
