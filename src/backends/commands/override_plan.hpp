// The file of overrides: which commands are run in place of the driver's setters. Read once, checked whole, immutable
// from then on; any thread.
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
  // Throws an invalid_argument Error, without the place in the file, for what is none.
  explicit ErrorPattern(const std::string& expression);

  [[nodiscard]] bool is_in(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// What is run for one operation: command after command, until one fails.
struct Override {
  std::vector<CommandWords> commands;
  std::optional<ErrorPattern> error_pattern;  // found in what a command prints: it has failed
  Seconds patience{60};                       // with each command

  // How long all of them may take, with what their children may still print.
  [[nodiscard]] Seconds longest() const;
};

// For what children of a command print when it has ended; then they are killed.
inline constexpr Seconds linger{1};

class OverridePlan {
 public:
  OverridePlan() = default;
  explicit OverridePlan(std::array<std::optional<Override>, operation_count> overrides)
      : overrides_{std::move(overrides)} {}

  // None where the driver is asked.
  [[nodiscard]] const Override* find(Operation operation) const;
  [[nodiscard]] bool empty() const;

 private:
  std::array<std::optional<Override>, operation_count> overrides_;
};

// `file` is what the text is called. What is wrong in it is an invalid_argument Error with line and column.
OverridePlan overrides_from_toml(std::string_view text, std::string_view file);

// The file is opened once and looked at through its descriptor, and so is its folder: both belong to root or `user`,
// and nobody else may write to them (base/trusted_file.hpp). An Error says what is wrong.
OverridePlan load_overrides(const std::filesystem::path& file, uid_t user);

}  // namespace zeus::backends::commands
