// Policies under drift, after the paper's section 6.4. Pure functions; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"

#include <cstdint>

namespace zeus::research {

// The workload after its data has drifted: each batch size takes the epochs that the one nearest to `factor` times it
// took before, so that the best one moves by about 1 / factor. All take more epochs, so that the best is no better than
// before.
simulate::Workload drifted(const simulate::Workload& workload, double factor);

// A job of the GPU that drifts half-way, so that its best batch size moves by two octaves or more and the old one
// becomes at least 20 % worse; policies remember ten observations. If there is no such job, the section says so.
records::FindingsSection drift_section(const PaperGpu& gpu, std::uint64_t seeds);

}  // namespace zeus::research
