// Recurrences over slices of data that drifts, after the paper's section 6.4 and figure 10. Pure functions; callable
// from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"
#include "research/slice_trace.hpp"

#include <cstdint>

namespace zeus::research {

// Real trainings of each slice, with the times and powers of an epoch of BERT (SA) on the GPU; a recurrence a slice. An
// invalid_argument Error if the GPU has no such job.
records::FindingsSection capriccio_section(const PaperGpu& gpu, const SliceTrace& trace, std::uint64_t seeds);

}  // namespace zeus::research
