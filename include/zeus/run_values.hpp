// The values that `zeus run` has chosen for the training that it runs (docs/run.md).
#pragma once

#include <zeus/export.hpp>

#include <cstdint>
#include <optional>

namespace zeus {

// Each is empty outside `zeus run`, and if `zeus run` leaves the choice to the program.
struct RunValues {
  std::optional<std::uint64_t> batch_size = {};  // ZEUS_BATCH_SIZE
  std::optional<double> learning_rate = {};      // ZEUS_LEARNING_RATE
  std::optional<std::uint64_t> seed = {};        // ZEUS_SEED
  std::optional<std::uint64_t> epochs = {};      // ZEUS_EPOCHS
  std::optional<double> target_metric = {};      // ZEUS_TARGET_METRIC
  std::optional<bool> higher_is_better = {};     // ZEUS_HIGHER_IS_BETTER, if there is a target
};

// The values for this process, from its environment; a value that is not a number is left out. Any thread.
[[nodiscard]] ZEUS_API RunValues run_values();

}  // namespace zeus
