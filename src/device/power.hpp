// What a power reading is the power of, what it means, and the limits it is held to. Plain values.
#pragma once

#include "device/reading.hpp"

#include <zeus/units.hpp>

#include <string_view>

namespace zeus::device {

enum class PowerScope {
  gpu,      // the GPU with its memory
  module,   // the whole module: a superchip's CPU, GPU and memory
  memory,   // memory alone: the GPU's, or that behind a CPU package
  package,  // a CPU package
};

enum class PowerKind {
  instant,  // over the sensor's own short window
  average,  // over about a second
  plain,    // the driver's oldest reading: instant or averaged, by model and driver version
};

std::string_view to_string(PowerScope scope);
std::string_view to_string(PowerKind kind);

// Each may be missing by itself.
struct PowerLimits {
  Reading<Watts> current;   // what was last asked for
  Reading<Watts> standard;  // what the device starts with
  Reading<Watts> minimum;   // the range that may be asked for
  Reading<Watts> maximum;
  Reading<Watts> enforced;  // what holds now: lower than `current` when something else limits as well
};

}  // namespace zeus::device
