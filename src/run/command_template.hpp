// A command with places for what a try decides: {batch_size}, {learning_rate}, {seed}, {epochs} and {target_metric},
// anywhere in its words. Other braces are left as they are, so that JSON, shell and format strings pass through.
// Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::run {

// What one try is told. What the job does not have is nothing.
struct TryValues {
  std::optional<int> batch_size;
  std::optional<double> learning_rate;
  std::uint64_t seed = 0;
  std::optional<int> epochs;
  std::optional<double> target_metric;
  bool higher_is_better = true;
};

class CommandTemplate {
 public:
  explicit CommandTemplate(std::vector<std::string> words);

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  // Whether `name` (without braces) has a place in the command.
  [[nodiscard]] bool asks_for(std::string_view name) const;
  // The command for a try. A place for a value that the try does not have is an invalid_argument Error that says which
  // flag gives it one.
  [[nodiscard]] std::vector<std::string> fill(const TryValues& values) const;

 private:
  std::vector<std::string> words_;
};

// The same values as variables of the environment, for scripts that rather look there: ZEUS_BATCH_SIZE,
// ZEUS_LEARNING_RATE, ZEUS_SEED, ZEUS_EPOCHS, ZEUS_TARGET_METRIC, ZEUS_HIGHER_IS_BETTER; those that the try does not
// have are left out.
std::vector<std::pair<std::string, std::string>> environment_of(const TryValues& values);

}  // namespace zeus::run
