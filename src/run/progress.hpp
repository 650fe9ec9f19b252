// The words of a training's progress (trial/progress.hpp), under which a watched command reports it. Plain values.
#pragma once

#include "trial/progress.hpp"

namespace zeus::run {

using trial::EpochsDone;
using trial::MetricSeen;
using trial::most_progress_at_once;
using trial::Progress;
using trial::StepsDone;

}  // namespace zeus::run
