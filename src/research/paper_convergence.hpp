// Where the policies end and the cost of getting there (the paper's figures 4, 6, 7, 8, 14, 19, 20, 21 and 23).
// Pure functions; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"

#include <cstdint>
#include <vector>

namespace zeus::research {

records::FindingsSection convergence_section(const PaperGpu& gpu, std::uint64_t seeds);
records::FindingsSection choice_section(const PaperGpu& gpu);
records::FindingsSection regret_section(const PaperGpu& gpu, std::uint64_t seeds);
records::FindingsSection path_section(const PaperGpu& gpu);
records::FindingsSection gpu_section(const std::vector<PaperGpu>& gpus, std::uint64_t seeds);

}  // namespace zeus::research
