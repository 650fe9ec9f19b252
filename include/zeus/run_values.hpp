// The values that `zeus run` has chosen for the training that it starts (docs/run.md).
#pragma once

#include <zeus/export.hpp>

#include <cstdint>
#include <optional>

namespace zeus {

// A value is empty outside `zeus run`, and if `zeus run` leaves the choice to the program.
struct RunValues {
  std::optional<std::uint64_t> batch_size = {};  // ZEUS_BATCH_SIZE
  std::optional<double> learning_rate = {};      // ZEUS_LEARNING_RATE
  std::optional<std::uint64_t> seed = {};        // ZEUS_SEED
  std::optional<std::uint64_t> epochs = {};      // ZEUS_EPOCHS
  std::optional<double> target_metric = {};      // ZEUS_TARGET_METRIC
  std::optional<bool> higher_is_better = {};     // ZEUS_HIGHER_IS_BETTER, if there is a target
};

// The values for this process, from its environment. A value that is not a number is left out. Any thread may call it.
[[nodiscard]] ZEUS_API RunValues run_values();

}  // namespace zeus
