#include "run/command_template.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace zeus::run {

namespace {

struct Placeholder {
  std::string_view name;
  std::string_view variable;
  std::string_view flag;  // that gives it a value
  std::optional<std::string> (*value)(const TryValues&);
};

template <typename T>
std::optional<std::string> text(const std::optional<T>& value) {
  return value ? std::optional{fmt::format("{}", *value)} : std::nullopt;
}

constexpr std::array<Placeholder, 5> placeholders{{
    {"batch_size", "ZEUS_BATCH_SIZE", "--batch-sizes", [](const TryValues& v) { return text(v.batch_size); }},
    {"learning_rate", "ZEUS_LEARNING_RATE", "--learning-rate",
     [](const TryValues& v) { return text(v.learning_rate); }},
    {"seed", "ZEUS_SEED", "--seed", [](const TryValues& v) { return std::optional{fmt::format("{}", v.seed)}; }},
    {"epochs", "ZEUS_EPOCHS", "--max-epochs", [](const TryValues& v) { return text(v.epochs); }},
    {"target_metric", "ZEUS_TARGET_METRIC", "--target-metric",
     [](const TryValues& v) { return text(v.target_metric); }},
}};

// The place at the beginning of `text`, which begins with a brace.
const Placeholder* place_at(std::string_view text) {
  const auto fits = [text](const Placeholder& place) {
    return text.size() >= place.name.size() + 2 && text.substr(1).starts_with(place.name) &&
           text[place.name.size() + 1] == '}';
  };
  const auto* const found = std::ranges::find_if(placeholders, fits);
  return found == placeholders.end() ? nullptr : &*found;
}

std::string fill_word(std::string_view word, const TryValues& values) {
  std::string filled;
  while (!word.empty()) {
    const std::size_t brace = std::min(word.find('{'), word.size());
    filled += word.substr(0, brace);
    word.remove_prefix(brace);
    if (word.empty()) {
      break;
    }
    const Placeholder* const place = place_at(word);
    if (place == nullptr) {
      filled += word.front();
      word.remove_prefix(1);
      continue;
    }
    const std::optional<std::string> value = place->value(values);
    if (!value) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the command asks for {{{}}}, which this job does not have", place->name),
                  fmt::format("give {}", place->flag)};
    }
    filled += *value;
    word.remove_prefix(place->name.size() + 2);
  }
  return filled;
}

}  // namespace

CommandTemplate::CommandTemplate(std::vector<std::string> words) : words_{std::move(words)} {
  if (words_.empty() || words_.front().empty()) {
    throw Error{ErrorKind::invalid_argument, "there is no command to run", "give it after --"};
  }
}

bool CommandTemplate::asks_for(std::string_view name) const {
  const std::string braced = fmt::format("{{{}}}", name);
  return std::ranges::any_of(words_, [&](const std::string& word) { return word.find(braced) != std::string::npos; });
}

std::vector<std::string> CommandTemplate::fill(const TryValues& values) const {
  std::vector<std::string> filled;
  filled.reserve(words_.size());
  for (const std::string& word : words_) {
    filled.push_back(fill_word(word, values));
  }
  return filled;
}

std::vector<std::pair<std::string, std::string>> environment_of(const TryValues& values) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const Placeholder& place : placeholders) {
    if (std::optional<std::string> value = place.value(values)) {
      variables.emplace_back(place.variable, *std::move(value));
    }
  }
  if (values.target_metric) {
    variables.emplace_back("ZEUS_HIGHER_IS_BETTER", values.higher_is_better ? "true" : "false");
  }
  return variables;
}

}  // namespace zeus::run
