// A cluster of overlapping recurring jobs, after the paper's section 6.3. A pure function; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"

#include <cstdint>

namespace zeus::research {

// Generated groups instead of the paper's cluster trace, 5 000 jobs for each seed and at most 1.2 million: the total of
// each workload under each policy, against the default.
records::FindingsSection cluster_section(const PaperGpu& gpu, std::uint64_t seeds);

}  // namespace zeus::research
