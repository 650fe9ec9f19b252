#include "backends/commands/override_plan.hpp"

#include "base/trusted_file.hpp"
#include "toml/toml_reader.hpp"

#include <zeus/error.hpp>
#include <zeus/fields.hpp>

#include <fmt/format.h>

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace zeus::backends::commands {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;
constexpr std::size_t most_commands = 256;
constexpr std::int64_t usual_seconds = 60;

struct PlacedText {
  std::string text;
  toml::TextPlace place;
};

void read_toml(const toml::TomlSpot& spot, PlacedText& value) {
  value = {.text = toml::read_string(spot), .place = spot.value().place()};
}

struct CommandList {
  std::vector<PlacedText> commands;
};

void read_toml(const toml::TomlSpot& spot, CommandList& value) {
  for (const toml::TomlValue& member : toml::read_list(spot, most_commands)) {
    read_toml(spot.member(member), value.commands.emplace_back());
  }
  if (value.commands.empty()) {
    spot.refuse_as("'commands' is an empty list", "leave out the table to use the driver");
  }
}

// One table of the file.
struct OverrideTable {
  CommandList commands;
  std::optional<PlacedText> error_pattern;
  std::optional<std::int64_t> timeout_s;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("commands", self.commands);
    fields("error_pattern", self.error_pattern);
    fields("timeout_s", self.timeout_s, field::from_one);
  }
};

struct OverrideFile {
  std::array<std::optional<OverrideTable>, operation_count> tables;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    for (std::size_t i = 0; i < operation_count; ++i) {
      fields(operation_names.at(i), self.tables.at(i));
    }
  }
};

// What `make` makes of a string in the file; adds the place to an Error.
template <typename Make>
auto at_place(std::string_view file, toml::TextPlace place, const Make& make) {
  // Thrown outside the handler, so that the same message is not repeated as a cause.
  std::optional<Error> fault;
  try {
    return make();
  } catch (const Error& error) {
    fault.emplace(error);
  }
  throw Error{fault->kind(), fmt::format("{}: {}", toml::to_text(file, place), fault->message()), fault->advice()};
}

Override override_of(const OverrideTable& table, Operation operation, std::string_view file) {
  Override made;
  for (const PlacedText& command : table.commands.commands) {
    made.commands.push_back(
        at_place(file, command.place, [&] { return CommandWords::parse(command.text, operation); }));
  }
  if (table.error_pattern) {
    made.error_pattern =
        at_place(file, table.error_pattern->place, [&] { return ErrorPattern{table.error_pattern->text}; });
  }
  made.patience = Seconds{static_cast<double>(table.timeout_s.value_or(usual_seconds))};
  return made;
}

std::optional<std::string> read_file(const std::filesystem::path& file, uid_t user) {
  std::optional<Error> fault;
  try {
    return read_trusted(file, user, largest_file);
  } catch (const Error& error) {
    fault.emplace(error);
  }
  const bool distrusted = fault->kind() == ErrorKind::permission_denied;
  throw Error{fault->kind(), fmt::format("the file of overrides: {}", fault->message()),
              distrusted ? fmt::format("its commands run as user {}: make sure that it and its folder belong "
                                       "to that user or to root, and that no other user can write to them",
                                       user)
                         : fault->advice()};
}

}  // namespace

struct ErrorPattern::Compiled {
  explicit Compiled(const std::string& expression) : regex{expression, re2::RE2::Quiet} {}
  re2::RE2 regex;
};

ErrorPattern::ErrorPattern(const std::string& expression) : compiled_{std::make_shared<const Compiled>(expression)} {
  if (!compiled_->regex.ok()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'error_pattern' is not a regular expression: {}", compiled_->regex.error()),
                "the syntax is that of RE2: Perl's, without back-references and look-around"};
  }
}

bool ErrorPattern::is_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, compiled_->regex);
}

Seconds Override::longest() const {
  return static_cast<double>(commands.size()) * (patience + linger);
}

const Override* OverridePlan::find(Operation operation) const {
  const std::optional<Override>& found = overrides_.at(static_cast<std::size_t>(operation));
  return found ? &*found : nullptr;
}

bool OverridePlan::empty() const {
  return std::ranges::none_of(overrides_, [](const std::optional<Override>& one) { return one.has_value(); });
}

OverridePlan overrides_from_toml(std::string_view text, std::string_view file) {
  const auto read = toml::record_from_toml<OverrideFile>(text, file);
  std::array<std::optional<Override>, operation_count> overrides;
  for (std::size_t i = 0; i < operation_count; ++i) {
    if (const std::optional<OverrideTable>& table = read.tables.at(i)) {
      overrides.at(i) = override_of(*table, static_cast<Operation>(i), file);
    }
  }
  return OverridePlan{std::move(overrides)};
}

OverridePlan load_overrides(const std::filesystem::path& file, uid_t user) {
  const std::optional<std::string> text = read_file(std::filesystem::absolute(file), user);
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", file.string()),
                "name one that is there, or leave the overrides out"};
  }
  return overrides_from_toml(*text, file.string());
}

}  // namespace zeus::backends::commands
