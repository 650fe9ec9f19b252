// What is asked of a served model: prompts from a file of JSON lines, or made up. Plain values and pure functions; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

enum class Route { chat, completions };

struct Message {
  std::string role;
  std::string content;

  friend bool operator==(const Message&, const Message&) = default;
};

struct Prompt {
  std::vector<Message> messages = {};  // of a chat; for a completion, one
  std::optional<std::uint64_t> max_tokens = {};

  friend bool operator==(const Prompt&, const Prompt&) = default;
};

// At most `most` prompts of a file with one object a line: {"prompt":"..."} or {"messages":[{"role","content"}]}, and
// "max_tokens" if this prompt has its own. Empty lines are skipped. Throws a corrupt_data Error that names the line.
std::vector<Prompt> read_prompts(std::string_view lines, Route route, std::size_t most);

// Prompts of `words` words each, none of which begins like another: a cache of prefixes does not help.
std::vector<Prompt> synthetic_prompts(std::size_t count, std::size_t words, std::uint64_t seed);

struct RequestPlan {
  Route route = Route::chat;
  std::string model = {};
  std::uint64_t max_tokens = 0;
  std::uint64_t seed = 0;
  bool ignore_eos = false;
};

std::string_view path_of(Route route);
// The body of request `number`; each has a seed of its own.
std::string request_body(const RequestPlan& plan, const Prompt& prompt, std::uint64_t number);

}  // namespace zeus::serving
