// One request to a served model, and what came back. Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::serving {

// As the server counts.
struct Usage {
  std::optional<std::uint64_t> prompt_tokens = {};
  std::uint64_t output_tokens = 0;
  std::optional<std::uint64_t> reasoning_tokens = {};  // a part of the output tokens

  friend bool operator==(const Usage&, const Usage&) = default;
};

struct Answer {
  Instant due = {};  // from when on its user waits
  Instant sent = {};
  Instant ended = {};
  std::vector<Instant> arrivals = {};  // of each piece of text; a piece may be several tokens
  std::optional<Usage> usage = {};
  std::string finish_reason = {};
  std::string failure = {};  // what kind; empty if the answer is whole
  std::string detail = {};   // of a failure: what the server or the network said

  [[nodiscard]] bool is_whole() const { return failure.empty(); }
};

}  // namespace zeus::serving
