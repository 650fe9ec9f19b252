#include "protocol/query.hpp"

#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <span>
#include <type_traits>

namespace zeus::protocol {

namespace {

constexpr std::size_t most_pairs = 64;
constexpr std::size_t most_string_bytes = 1024;
constexpr std::size_t most_ids = 4096;
constexpr std::size_t most_of_a_value = 60;

template <typename Value>
struct Unwrapped {
  using Type = Value;
  static constexpr bool may_lack = false;
};
template <typename Value>
struct Unwrapped<std::optional<Value>> {
  using Type = Value;
  static constexpr bool may_lack = true;
};

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number number{};
  if (!is_digits(text) || std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) {
    return std::nullopt;
  }
  return number;
}

std::optional<Seconds> seconds(std::string_view text) {
  const std::size_t point = text.find('.');
  if (!is_digits(text.substr(0, point)) || (point != std::string_view::npos && !is_digits(text.substr(point + 1)))) {
    return std::nullopt;
  }
  double number = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return error == std::errc{} && rest == text.data() + text.size() ? std::optional{Seconds{number}} : std::nullopt;
}

// One number of a list, with any spaces around it.
std::optional<std::uint32_t> id_of(std::string_view item) {
  const std::size_t begin = item.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  return whole<std::uint32_t>(item.substr(begin, item.find_last_not_of(" \t") - begin + 1));
}

std::string in_ticks(std::string_view text) {
  return fmt::format("`{}`", shortened(printable(text), most_of_a_value));
}

// Why the text is not a list of numbers; empty if it is one.
std::optional<std::string> read_ids(std::string_view text, std::string_view name, Ids& ids) {
  std::vector<std::uint32_t> numbers;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::optional<std::uint32_t> number = id_of(item);
    if (!number) {
      return fmt::format("{} has {}, which is not the number of a device: numbers are separated by commas", name,
                         item.empty() ? "an empty item" : in_ticks(item));
    }
    if (numbers.size() == most_ids) {
      return fmt::format("{} has more than {} numbers", name, most_ids);
    }
    numbers.push_back(*number);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  ids.numbers = std::move(numbers);
  return std::nullopt;
}

// What the value has to be, if `text` is not that; empty if it was read. Lists of numbers are read later.
template <typename Value>
std::optional<std::string> read_value(std::string_view text, Value& value) {
  const auto take = [&](auto read, std::string_view expected) -> std::optional<std::string> {
    if (!read) {
      return std::string{expected};
    }
    value = *read;
    return std::nullopt;
  };
  if constexpr (std::is_same_v<Value, bool>) {
    const std::optional<bool> read = text == "true"    ? std::optional{true}
                                     : text == "false" ? std::optional{false}
                                                       : std::nullopt;
    return take(read, "`true` or `false`");
  } else if constexpr (std::is_integral_v<Value>) {
    return take(whole<Value>(text),
                fmt::format("a whole number from 0 to {} in decimal digits", std::numeric_limits<Value>::max()));
  } else if constexpr (std::is_same_v<Value, Seconds>) {
    return take(seconds(text), "a number of seconds in decimal digits");
  } else if constexpr (std::is_same_v<Value, std::string>) {
    // Text that is not UTF-8 cannot be printed as it is; control characters do not belong in a query either.
    if (text.size() > most_string_bytes || printable(text) != text) {
      return fmt::format("a string without control characters, of at most {} bytes", most_string_bytes);
    }
    value = text;
  }
  return std::nullopt;
}

// Reads a query, and keeps what there was of each parameter.
class Reader {
 public:
  Reader(std::initializer_list<Parameter> parameters) : parameters_{parameters.begin(), parameters.size()} {}

  std::optional<QueryError> read(std::string_view query) {
    std::size_t pairs = 0;
    while (!query.empty()) {
      const std::size_t end = query.find('&');
      const std::string_view pair = query.substr(0, end);
      query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
      if (pair.empty()) {
        continue;
      }
      if (++pairs > most_pairs) {
        return form("invalid query: more than {} parameters", most_pairs);
      }
      if (auto error = read_pair(pair)) {
        return error;
      }
    }
    return finish();
  }

 private:
  template <typename... Values>
  static QueryError form(fmt::format_string<Values...> text, Values&&... values) {
    return {.kind = QueryError::Kind::form, .text = fmt::format(text, std::forward<Values>(values)...)};
  }

  std::optional<QueryError> read_pair(std::string_view pair) {
    const std::size_t equals = pair.find('=');
    const std::optional<std::string> name = percent_decoded(pair.substr(0, equals));
    const std::optional<std::string> text =
        percent_decoded(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
    if (!name || !text) {
      return form("invalid encoding of {}: after each `%` come two hexadecimal digits", in_ticks(pair));
    }
    const auto parameter = std::ranges::find(parameters_, *name, &Parameter::name);
    if (parameter == parameters_.end()) {
      return form("unknown field {}, expected {}", in_ticks(*name), known());
    }
    if (!texts_.emplace(parameter->name, *text).second) {
      return form("duplicate field `{}`", parameter->name);
    }
    const auto read = [&]<typename Target>(Target* target) -> std::optional<std::string> {
      typename Unwrapped<Target>::Type value{};
      auto expected = read_value(*text, value);
      if (!expected) {
        *target = std::move(value);
      }
      return expected;
    };
    if (const auto expected = std::visit(read, parameter->target)) {
      return form("invalid value {} of `{}`, expected {}", in_ticks(*text), parameter->name, *expected);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string known() const {
    std::string names;
    for (const Parameter& parameter : parameters_) {
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", parameter.name);
    }
    return names.empty() ? "none" : names;
  }

  [[nodiscard]] std::optional<QueryError> finish() const {
    for (const Parameter& parameter : parameters_) {
      const bool may_lack = std::visit(
          []<typename Target>(const Target* /*target*/) { return Unwrapped<Target>::may_lack; }, parameter.target);
      if (!may_lack && !texts_.contains(parameter.name)) {
        return form("missing field `{}`", parameter.name);
      }
    }
    for (const Parameter& parameter : parameters_) {
      const auto text = texts_.find(parameter.name);
      if (text == texts_.end()) {
        continue;
      }
      const auto read = [&]<typename Target>(Target* target) -> std::optional<std::string> {
        if constexpr (std::is_same_v<typename Unwrapped<Target>::Type, Ids>) {
          Ids ids;
          auto wrong = read_ids(text->second, parameter.name, ids);
          *target = std::move(ids);
          return wrong;
        } else {
          return std::nullopt;
        }
      };
      if (auto wrong = std::visit(read, parameter.target)) {
        return QueryError{.kind = QueryError::Kind::ids, .text = *std::move(wrong)};
      }
    }
    return std::nullopt;
  }

  std::span<const Parameter> parameters_;
  std::map<std::string_view, std::string> texts_;
};

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

}  // namespace

std::optional<QueryError> read_query(std::string_view query, std::initializer_list<Parameter> parameters) {
  return Reader{parameters}.read(query);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1;
    const int low = high >= 0 ? hexadecimal(text[i + 2]) : -1;
    if (low < 0) {
      return std::nullopt;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view{"-._~"}.find(c) != std::string_view::npos;
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

Refusal refusal(const QueryError& error) {
  return error.kind == QueryError::Kind::ids
             ? refusal(Status::bad_request, error.text)
             : text_refusal(Status::bad_request, "Query deserialize error: " + error.text);
}

}  // namespace zeus::protocol
