// The drawing of a measured iteration: its computations, and the chain of them that determined how long it took. A pure
// function on plain values.
#pragma once

#include "records/measured_iteration.hpp"
#include "records/pipeline_study.hpp"

namespace zeus::optimize::pipeline {

// From the computation that ended last, back to the one that each waited for: of the one before it on its rank, and the
// same micro-batch's on the neighbouring stage (the stage before for a forward, the stage after for anything else), the
// one that ended later. `bound` stays 0, since nothing was planned.
records::Timeline timeline_of(const records::MeasuredIteration& iteration);

}  // namespace zeus::optimize::pipeline
