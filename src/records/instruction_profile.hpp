// Measurements of a training loop's instructions at each frequency, row by row, as profilers write them down.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::records {

struct InstructionMeasurement {
  std::size_t stage = 0;
  std::string instruction;  // in lower case: "forward"
  Megahertz frequency;
  Seconds time;
  Joules energy;
  std::optional<std::size_t> rank;  // which of a stage's GPUs was measured, if that was written down
  friend bool operator==(const InstructionMeasurement&, const InstructionMeasurement&) = default;
};

using InstructionProfile = std::vector<InstructionMeasurement>;

}  // namespace zeus::records
