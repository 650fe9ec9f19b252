// The operations that commands can replace, and the words of such a command with placeholders for the values to set:
// "nvidia-smi", "-i", "{gpu_id}". Immutable values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::backends::commands {

enum class Operation {
  set_persistence_mode,
  set_power_limit,
  set_gpu_locked_clocks,
  reset_gpu_locked_clocks,
  set_mem_locked_clocks,
  reset_mem_locked_clocks,
  reset_locked_clocks,  // of all domains at once
};

inline constexpr std::size_t operation_count = 7;
// Their names in the file of overrides, in the order above.
inline constexpr std::array<std::string_view, operation_count> operation_names{
    "set_persistence_mode",  "set_power_limit",         "set_gpu_locked_clocks", "reset_gpu_locked_clocks",
    "set_mem_locked_clocks", "reset_mem_locked_clocks", "reset_locked_clocks"};

constexpr std::string_view to_string(Operation operation) {
  return operation_names.at(static_cast<std::size_t>(operation));
}

enum class Place { gpu_id, power_limit_mw, power_limit_w, min_clock_mhz, max_clock_mhz, enabled };

inline constexpr std::size_t place_count = 6;

// The value of each placeholder; an operation ignores placeholders that it does not have.
using PlaceValues = std::array<std::int64_t, place_count>;

class CommandWords {
 public:
  // Throws an invalid_argument Error, without the place in the file, if the line cannot be split, has no program, or
  // has braces that are not a placeholder of the operation.
  static CommandWords parse(std::string_view line, Operation operation);

  [[nodiscard]] std::vector<std::string> fill(const PlaceValues& values) const;

 private:
  struct Part {
    std::string text;
    std::optional<Place> then;  // the placeholder after it
  };
  using Word = std::vector<Part>;

  static Word parse_word(std::string_view word, Operation operation);

  std::vector<Word> words_;
};

}  // namespace zeus::backends::commands
