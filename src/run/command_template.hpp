// A command with places for the values of a try: {batch_size}, {learning_rate}, {seed}, {epochs} and {target_metric},
// anywhere in its words. Other braces stay as they are, so that JSON, shell and format strings pass through. Immutable;
// safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::run {

// The values of one try; empty if the job has none.
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
  // Whether the command has a place with this name (without braces).
  [[nodiscard]] bool asks_for(std::string_view name) const;
  // The command for a try. If the command has a place for a value that the try lacks, throws an invalid_argument Error
  // that names the flag for that value.
  [[nodiscard]] std::vector<std::string> fill(const TryValues& values) const;

 private:
  std::vector<std::string> words_;
};

// The same values as environment variables, for scripts that prefer them: ZEUS_BATCH_SIZE, ZEUS_LEARNING_RATE,
// ZEUS_SEED, ZEUS_EPOCHS, ZEUS_TARGET_METRIC, ZEUS_HIGHER_IS_BETTER. Those that the try lacks are left out.
std::vector<std::pair<std::string, std::string>> environment_of(const TryValues& values);

}  // namespace zeus::run
