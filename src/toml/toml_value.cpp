#include "toml/toml_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

// What the library asserts, or lets the compiler assume, some texts break ("[=" in release 3.3); a few lines on it
// refuses them with their place. So nothing is asserted or assumed of a text, in any build.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace zeus::toml {

namespace {

TextPlace place_of(const ::toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

TomlValue value_of(const ::toml::node& node);

TomlValue::List list_of(const ::toml::array& array) {
  TomlValue::List list;
  for (const ::toml::node& member : array) {
    list.push_back(value_of(member));
  }
  return list;
}

TomlValue::Table table_of(const ::toml::table& table) {
  TomlValue::Table members;
  for (const auto& [key, node] : table) {
    members.push_back({.key = std::string{key.str()}, .place = place_of(key.source()), .value = value_of(node)});
  }
  std::ranges::stable_sort(members, {}, [](const TomlValue::Member& member) {
    return std::tuple{member.place.line, member.place.column};
  });
  return members;
}

TomlValue value_of(const ::toml::node& node) {
  const TextPlace place = place_of(node.source());
  if (const ::toml::table* const table = node.as_table()) {
    return {table_of(*table), place};
  }
  if (const ::toml::array* const array = node.as_array()) {
    return {list_of(*array), place};
  }
  if (const auto* const string = node.as_string()) {
    return {string->get(), place};
  }
  if (const auto* const whole = node.as_integer()) {
    return {whole->get(), place};
  }
  if (const auto* const number = node.as_floating_point()) {
    return {number->get(), place};
  }
  if (const auto* const boolean = node.as_boolean()) {
    return {boolean->get(), place};
  }
  return {TomlValue::Time{}, place};
}

// "Error while parsing key-value pair: cannot redefine existing integer 'eta'": what its writers were doing, and what
// is wrong.
std::string_view fault_of(std::string_view description) {
  constexpr std::string_view between = ": ";
  const std::size_t end = description.find(between);
  return description.starts_with("Error while parsing ") && end != std::string_view::npos
             ? description.substr(end + between.size())
             : description;
}

Error refusal_of(const ::toml::parse_error& error, std::string_view file) {
  const TextPlace place = place_of(error.source());
  const std::string_view fault = fault_of(error.description());
  const std::string where = fmt::format("{}:{}:{}", file, place.line, place.column);
  if (fault.starts_with("cannot redefine existing ")) {
    const std::size_t name = std::min(fault.find('\''), fault.size());
    const std::size_t end = std::min(fault.find('\'', name + 1), fault.size() - 1);
    return {ErrorKind::invalid_argument,
            fmt::format("{}: {} is given a second time", where, fault.substr(name, end - name + 1)),
            "keep one of the two"};
  }
  return {ErrorKind::invalid_argument, fmt::format("{}: this is no TOML: {}", where, fault),
          "strings stand in quotation marks, lists in square brackets: see https://toml.io"};
}

}  // namespace

TomlValue::TomlValue(Any value, TextPlace place) : value_{std::move(value)}, place_{place} {
}

TomlValue TomlValue::parse(std::string_view text, std::string_view file) {
  // Outside of the handler, so that the library's own words are not told as a cause besides.
  std::optional<::toml::parse_error> fault;
  try {
    return value_of(::toml::parse(text, file));
  } catch (const ::toml::parse_error& error) {
    fault.emplace(error);
  }
  throw refusal_of(*fault, file);
}

const TomlValue* TomlValue::find(std::string_view key) const {
  const Table* const members = as<Table>();
  if (members == nullptr) {
    return nullptr;
  }
  const auto place = std::ranges::find(*members, key, &Member::key);
  return place != members->end() ? &place->value : nullptr;
}

std::string_view TomlValue::kind() const {
  static constexpr std::array<std::string_view, std::variant_size_v<Any>> kinds{
      "true or false", "a whole number", "a number", "a string", "a time", "a list", "a table"};
  return kinds.at(value_.index());
}

}  // namespace zeus::toml
