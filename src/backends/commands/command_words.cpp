#include "backends/commands/command_words.hpp"

#include "backends/commands/word_split.hpp"
#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace zeus::backends::commands {

namespace {

constexpr std::array<std::string_view, place_count> place_names{"gpu_id",        "power_limit_mw", "power_limit_w",
                                                                "min_clock_mhz", "max_clock_mhz",  "enabled"};

std::vector<Place> places_of(Operation operation) {
  switch (operation) {
    case Operation::set_persistence_mode:
      return {Place::gpu_id, Place::enabled};
    case Operation::set_power_limit:
      return {Place::gpu_id, Place::power_limit_mw, Place::power_limit_w};
    case Operation::set_gpu_locked_clocks:
    case Operation::set_mem_locked_clocks:
      return {Place::gpu_id, Place::min_clock_mhz, Place::max_clock_mhz};
    case Operation::reset_gpu_locked_clocks:
    case Operation::reset_mem_locked_clocks:
    case Operation::reset_locked_clocks:
      break;
  }
  return {Place::gpu_id};
}

std::string_view name_of(Place place) {
  return place_names.at(static_cast<std::size_t>(place));
}

[[noreturn]] void refuse(const std::string& why, const std::string& advice) {
  throw Error{ErrorKind::invalid_argument, why, advice};
}

[[noreturn]] void refuse_braces(const std::string& why, Operation operation) {
  std::vector<std::string> names;
  for (const Place place : places_of(operation)) {
    names.push_back(fmt::format("{{{}}}", name_of(place)));
  }
  refuse(why, fmt::format("{} takes {} and no other braces", to_string(operation), fmt::join(names, ", ")));
}

}  // namespace

CommandWords CommandWords::parse(std::string_view line, Operation operation) {
  const SplitLine split = split_words(line);
  if (!split.fault.empty()) {
    refuse(fmt::format("this command cannot be split into words: {}", split.fault), "quote as for a shell");
  }
  if (split.words.empty() || split.words.front().empty()) {
    refuse("this command has no program", "give one, or leave the command out");
  }
  CommandWords command;
  for (const std::string& word : split.words) {
    command.words_.push_back(parse_word(word, operation));
  }
  return command;
}

CommandWords::Word CommandWords::parse_word(std::string_view word, Operation operation) {
  Word parts;
  while (true) {
    const std::size_t brace = std::min(word.find_first_of("{}"), word.size());
    Part& part = parts.emplace_back(Part{.text = std::string{word.substr(0, brace)}, .then = std::nullopt});
    if (brace == word.size()) {
      return parts;
    }
    const std::size_t end = word.find_first_of("{}", brace + 1);
    if (word[brace] == '}' || end == std::string_view::npos || word[end] == '{') {
      refuse_braces(fmt::format("{} has an unmatched brace", in_quotes(word)), operation);
    }
    const std::string_view name = word.substr(brace + 1, end - brace - 1);
    const std::vector<Place> known = places_of(operation);
    const auto place = std::ranges::find(known, name, name_of);
    if (place == known.end()) {
      refuse_braces(fmt::format("there is no {} here", in_quotes(word.substr(brace, end + 1 - brace))), operation);
    }
    part.then = *place;
    word.remove_prefix(end + 1);
  }
}

std::vector<std::string> CommandWords::fill(const PlaceValues& values) const {
  std::vector<std::string> filled;
  for (const Word& word : words_) {
    std::string& text = filled.emplace_back();
    for (const Part& part : word) {
      text += part.text;
      if (part.then) {
        text += std::to_string(values.at(static_cast<std::size_t>(*part.then)));
      }
    }
  }
  return filled;
}

}  // namespace zeus::backends::commands
