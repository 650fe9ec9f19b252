// The possible savings by the traces alone (the paper's figures 1, 2, 5, 11, 15, 16, 17 and 18): no policy runs.
// Pure functions; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"

#include <vector>

namespace zeus::research {

// Energy with the best batch size, the best limit, and both, on each GPU.
records::FindingsSection potential_section(const std::vector<PaperGpu>& gpus);
// Time against energy of every configuration, the Pareto front, and how eta moves along it.
records::FindingsSection front_section(const PaperGpu& gpu);
// Energy over the batch size and over the limit.
records::FindingsSection shape_section(const PaperGpu& gpu);

}  // namespace zeus::research
