#include "serving/prompts.hpp"

#include "base/random.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace zeus::serving {

namespace {

constexpr double most_tokens_of_answer = 1e6;

constexpr std::array<std::string_view, 64> words_of_prompts{
    "river",  "stone",  "garden", "winter", "letter", "bridge", "window",  "summer",   "forest", "silver",  "engine",
    "market", "island", "copper", "valley", "thread", "meadow", "anchor",  "harbour",  "marble", "orange",  "planet",
    "pillow", "rocket", "saddle", "temple", "tunnel", "velvet", "wagon",   "yellow",   "zebra",  "acorn",   "basket",
    "candle", "desert", "ember",  "falcon", "ginger", "hammer", "ink",     "jacket",   "kettle", "lantern", "mirror",
    "needle", "oyster", "pepper", "quartz", "ribbon", "shadow", "timber",  "umbrella", "violin", "walnut",  "yarn",
    "zinc",   "apple",  "button", "cotton", "dragon", "eagle",  "feather", "glacier",  "honey"};

[[noreturn]] void refuse_line(std::size_t line, std::string_view why) {
  throw Error{ErrorKind::corrupt_data, fmt::format("line {} is not a prompt: {}", line, why),
              R"(write one object a line, {"prompt":"..."} or {"messages":[{"role":"user","content":"..."}]})"};
}

std::string string_of(const records::JsonValue& object, std::string_view key, std::size_t line) {
  const records::JsonValue* const member = object.find(key);
  if (member == nullptr || member->string() == nullptr) {
    refuse_line(line, fmt::format("its '{}' is not a string", key));
  }
  return *member->string();
}

std::vector<Message> messages_of(const records::JsonValue& object, Route route, std::size_t line) {
  const records::JsonValue* const messages = object.find("messages");
  if (messages == nullptr) {
    return {{.role = "user", .content = string_of(object, "prompt", line)}};
  }
  if (route == Route::completions) {
    refuse_line(line, "a completion has a 'prompt' and no 'messages'");
  }
  if (messages->list() == nullptr || messages->list()->empty()) {
    refuse_line(line, "its 'messages' are not a list with at least one");
  }
  std::vector<Message> all;
  for (const records::JsonValue& message : *messages->list()) {
    std::string role = string_of(message, "role", line);
    all.push_back({.role = std::move(role), .content = string_of(message, "content", line)});
  }
  return all;
}

Prompt prompt_of(std::string_view text, Route route, std::size_t line) {
  const std::optional<records::JsonValue> json = records::JsonValue::parse(text);
  if (!json || json->object() == nullptr) {
    refuse_line(line, "it is not a JSON object");
  }
  Prompt prompt{.messages = messages_of(*json, route, line)};
  if (const records::JsonValue* const most = json->find("max_tokens")) {
    prompt.max_tokens = most->whole<std::uint64_t>();
    if (!prompt.max_tokens || *prompt.max_tokens == 0 ||
        static_cast<double>(*prompt.max_tokens) > most_tokens_of_answer) {
      refuse_line(line, "its 'max_tokens' is not a whole number from 1 to 1,000,000");
    }
  }
  return prompt;
}

}  // namespace

std::vector<Prompt> read_prompts(std::string_view lines, Route route, std::size_t most) {
  std::vector<Prompt> prompts;
  for (std::size_t line = 1; !lines.empty() && prompts.size() < most; ++line) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view text = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
      prompts.push_back(prompt_of(text, route, line));
    }
  }
  return prompts;
}

std::vector<Prompt> synthetic_prompts(std::size_t count, std::size_t words, std::uint64_t seed) {
  std::vector<Prompt> prompts;
  for (std::size_t number = 0; number < count; ++number) {
    Random random{seed, number};
    // What tells it from others comes first: a server may keep the beginnings of prompts.
    std::string text = fmt::format("{}-{}", seed, number);
    for (std::size_t word = 1; word < words; ++word) {
      text += ' ';
      text += words_of_prompts.at(random.below(words_of_prompts.size()));
    }
    prompts.push_back({.messages = {{.role = "user", .content = std::move(text)}}});
  }
  return prompts;
}

std::string_view path_of(Route route) {
  return route == Route::chat ? "/v1/chat/completions" : "/v1/completions";
}

std::string request_body(const RequestPlan& plan, const Prompt& prompt, std::uint64_t number) {
  records::JsonWriter json;
  json.object([&] {
    json.put("model", plan.model);
    if (plan.route == Route::chat) {
      json.put_list("messages", prompt.messages, [&](const Message& message) {
        json.object([&] {
          json.put("role", message.role);
          json.put("content", message.content);
        });
      });
    } else {
      json.put("prompt", prompt.messages.front().content);
    }
    json.put("max_tokens", prompt.max_tokens.value_or(plan.max_tokens));
    json.put("seed", plan.seed + number);
    json.put("stream", true);
    json.put("stream_options", [&] { json.put("include_usage", true); });
    if (plan.ignore_eos) {
      json.put("ignore_eos", true);
    }
  });
  return json.take();
}

}  // namespace zeus::serving
