// What a tuner works with. References to what a session owns; it outlives the tuner.
#pragma once

#include "base/clock.hpp"
#include "train/account.hpp"
#include "train/event_reporter.hpp"
#include "train/fleet.hpp"
#include "train/gpu_group.hpp"
#include "train/meter.hpp"
#include "train/ranks.hpp"

#include <zeus/training_options.hpp>

namespace zeus::train {

struct TunerParts {
  const TrainingOptions& options;
  const Fleet& fleet;
  GpuGroup& group;
  Meter* meter = nullptr;  // null without GPUs
  Ranks& ranks;
  Account& account;
  EventReporter& reporter;
  Clock& clock;
  bool may_end_soon = false;
};

}  // namespace zeus::train
