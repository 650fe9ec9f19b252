#include "run/printed_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace zeus::run {

namespace {

constexpr std::size_t most_series = 1000;

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// The characters of names: "val/acc", "top-1", "acc@1".
bool is_of_name(char letter) {
  return is_letter(letter) || is_digit(letter) || letter == '/' || letter == '@' || letter == '-' || letter == '.';
}

struct Number {
  std::size_t begin = 0;
  std::size_t end = 0;
  double value = 0.0;
  bool whole = true;
};

// The next number that is not part of a word.
std::optional<Number> next_number(std::string_view line, std::size_t from) {
  for (std::size_t at = from; at < line.size(); ++at) {
    const char before = at > 0 ? line[at - 1] : ' ';
    if (is_letter(before) || is_digit(before) || before == '.' || before == '@') {
      continue;
    }
    const bool is_word = line.substr(at, 3) == "nan" || line.substr(at, 3) == "inf";
    if (is_word ? at + 3 < line.size() && is_letter(line[at + 3]) : !is_digit(line[at])) {
      continue;
    }
    // A minus is a sign only where it does not join two things.
    const bool negative = before == '-' && (at == 1 || !is_of_name(line[at - 2]));
    Number number{.begin = negative ? at - 1 : at};
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + number.begin, end, number.value);
    if (error != std::errc{}) {
      continue;
    }
    number.end = static_cast<std::size_t>(rest - line.data());
    number.whole =
        !is_word && line.substr(number.begin, number.end - number.begin).find_first_of(".eE") == std::string_view::npos;
    return number;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  const std::size_t end = text.find_last_not_of(" \t");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

// Takes the last word off `text`.
std::string_view take_word(std::string_view& text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_of_name(text[begin - 1])) {
    --begin;
  }
  while (begin < text.size() && !is_letter(text[begin])) {
    ++begin;
  }
  const std::string_view word = text.substr(begin);
  text = text.substr(0, begin);
  return word;
}

// Splits the text between a number and the number before it into the parts of its name.
void name_series(NumberSeries& series, std::string_view before, bool first) {
  constexpr std::size_t longest_lead = 8;
  constexpr std::string_view joins = " \t:='\"([{|#>,";
  const std::size_t end = before.find_last_not_of(joins);
  const std::size_t name_end = end == std::string_view::npos ? 0 : end + 1;
  std::string_view rest = before.substr(0, name_end);
  const std::string_view name = take_word(rest);
  if (name.empty()) {
    series.between = before.empty() ? "" : std::string{trimmed(before)};
    series.between = series.between.empty() ? "" : series.between.substr(series.between.size() - 1);
    return;
  }
  series.name = name;
  series.between = before.substr(name_end);
  const std::string_view signs = rest;
  rest = trimmed(rest);
  series.qualifier = take_word(rest);
  if (first && series.qualifier.empty() && signs.size() <= longest_lead) {
    series.lead = signs;
  }
}

std::string opening_of(std::string_view line, std::size_t first_number) {
  const std::string_view before = line.substr(0, first_number);
  const auto* const begin = std::ranges::find_if(before, is_letter);
  const auto* const end = std::find_if_not(begin, before.end(), is_letter);
  return {begin, end};
}

bool is_slash_and_number(std::string_view line, std::size_t at) {
  return at + 1 < line.size() && line[at] == '/' && is_digit(line[at + 1]);
}

}  // namespace

std::vector<NumberSeries> number_series(std::span<const std::string> lines) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, bool>;
  std::map<Key, NumberSeries> all;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const std::string_view line = lines[index];
    std::size_t from = 0;
    std::string opening;
    for (std::optional<Number> number = next_number(line, 0); number; number = next_number(line, number->end)) {
      NumberSeries here;
      if (from == 0) {
        opening = opening_of(line, number->begin);
      }
      const std::string_view before = line.substr(from, number->begin - from);
      here.begins_line = from == 0 && trimmed(before).empty();
      name_series(here, before, from == 0);
      here.of_all = number->whole && is_slash_and_number(line, number->end);
      here.opening = opening != here.name ? opening : std::string{};
      here.column = number->begin;
      from = number->end;
      const Key key{here.opening, here.lead, here.qualifier, here.name, here.between, here.of_all};
      auto place = all.find(key);
      if (place == all.end()) {
        if (all.size() >= most_series) {
          continue;
        }
        place = all.emplace(key, std::move(here)).first;
      }
      NumberSeries& series = place->second;
      series.whole = series.whole && number->whole;
      series.values.push_back(number->value);
      series.lines.push_back(index);
    }
  }
  std::vector<NumberSeries> result;
  for (auto& [key, series] : all) {
    result.push_back(std::move(series));
  }
  std::ranges::sort(result, {}, [](const NumberSeries& series) {
    return std::pair{series.lines.front(), series.column};
  });
  return result;
}

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : name) {
    const bool capital = letter >= 'A' && letter <= 'Z';
    if ((!is_letter(letter) && !is_digit(letter)) || letter == '_') {
      if (!parts.back().empty()) {
        parts.emplace_back();
      }
    } else {
      parts.back() += capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  if (parts.back().empty()) {
    parts.pop_back();
  }
  return parts;
}

}  // namespace zeus::run
