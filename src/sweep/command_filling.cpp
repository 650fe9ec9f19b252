#include "sweep/command_filling.hpp"

#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace zeus::sweep {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t most_filled = std::size_t{1} << 20;

// The words between the braces; those in double quotes may have blanks in them. Nothing if a quote is not closed.
std::optional<std::vector<std::string_view>> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(begin);
    const bool quoted = text.front() == '"';
    const std::size_t end = quoted ? text.find('"', 1) : text.find_first_of(blanks);
    if (quoted && end == std::string_view::npos) {
      return std::nullopt;
    }
    words.push_back(text.substr(quoted ? 1 : 0, quoted ? end - 1 : end));
    text.remove_prefix(quoted ? end + 1 : std::min(end, text.size()));
  }
}

const std::string& value_of(std::string_view name, const std::vector<Parameter>& parameters) {
  if (const std::string* const value = find_parameter(parameters, name)) {
    return *value;
  }
  std::string names;
  for (const Parameter& parameter : parameters) {
    names += (names.empty() ? "" : ", ") + parameter.name;
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("no parameter is called {}", in_quotes(name)),
              names.empty() ? "there are none" : fmt::format("there are {}", printable(names))};
}

std::string replaced(const std::string& value, std::string_view what, std::string_view with) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = value.find(what); !what.empty() && at != std::string::npos; at = value.find(what, from)) {
    result.append(value, from, at - from).append(with);
    from = at + what.size();
  }
  return result.append(value, from);
}

std::string value_of_braces(std::string_view inside, const std::vector<Parameter>& parameters) {
  const auto words = words_of(inside);
  if (words && words->size() == 1) {
    return value_of(words->front(), parameters);
  }
  if (words && words->size() == 4 && words->front() == "replace") {
    return replaced(value_of((*words)[1], parameters), (*words)[2], (*words)[3]);
  }
  throw Error{ErrorKind::invalid_argument,
              fmt::format("{} in double braces is neither a name nor `replace`", in_quotes(inside)),
              R"(write {{ name }}, or {{ replace name "/" "--" }})"};
}

}  // namespace

std::string filled(const std::string& text, const std::vector<Parameter>& parameters) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", from)) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) {
      throw Error{ErrorKind::invalid_argument, fmt::format("double braces are not closed in {}", in_quotes(text)),
                  "close them with }}"};
    }
    result.append(text, from, at - from);
    result += value_of_braces(std::string_view{text}.substr(at + 2, end - at - 2), parameters);
    if (result.size() > most_filled) {
      throw Error{ErrorKind::invalid_argument, "a command has more than 1 MiB", "put it in a script"};
    }
    from = end + 2;
  }
  return result.append(text, from);
}

}  // namespace zeus::sweep
