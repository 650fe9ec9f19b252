// The file of overrides: the commands that are run instead of the driver's setters. Read once, checked completely, and
// immutable from then on; any thread.
#pragma once

#include "backends/commands/command_words.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::backends::commands {

// A regular expression in the syntax of RE2. Shared by its copies.
class ErrorPattern {
 public:
  // Throws an invalid_argument Error, without the place in the file, if `expression` is not valid.
  explicit ErrorPattern(const std::string& expression);

  [[nodiscard]] bool is_in(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// The commands for one operation, run one after the other until one fails.
struct Override {
  std::vector<CommandWords> commands;
  std::optional<ErrorPattern> error_pattern;  // a command whose output matches it has failed
  Seconds patience{60};                       // for each command

  // How long all of them may take, including the time for what their children still print.
  [[nodiscard]] Seconds longest() const;
};

// How long the children of an ended command may still print; then they are killed.
inline constexpr Seconds linger{1};

class OverridePlan {
 public:
  OverridePlan() = default;
  explicit OverridePlan(std::array<std::optional<Override>, operation_count> overrides)
      : overrides_{std::move(overrides)} {}

  // Null if the driver is used.
  [[nodiscard]] const Override* find(Operation operation) const;
  [[nodiscard]] bool empty() const;

 private:
  std::array<std::optional<Override>, operation_count> overrides_;
};

// `file` is what errors call the file. A mistake in it is an invalid_argument Error with line and column.
OverridePlan overrides_from_toml(std::string_view text, std::string_view file);

// The file is opened once and checked through its descriptor, and so is its folder: both must belong to root or `user`,
// and no other user may be able to write to them (base/trusted_file.hpp). An Error says what is wrong.
OverridePlan load_overrides(const std::filesystem::path& file, uid_t user);

}  // namespace zeus::backends::commands
