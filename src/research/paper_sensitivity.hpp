// The influence of eta, beta and the parts of policy `zeus` (the paper's figures 12, 13 and 22), and the cost of
// just-in-time profiling (its section 6.5). Pure functions; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"

#include <cstdint>

namespace zeus::research {

records::FindingsSection eta_section(const PaperGpu& gpu, std::uint64_t seeds);
records::FindingsSection beta_section(const PaperGpu& gpu, std::uint64_t seeds);
records::FindingsSection ablation_section(const PaperGpu& gpu, std::uint64_t seeds);
records::FindingsSection overhead_section(const PaperGpu& gpu);

}  // namespace zeus::research
