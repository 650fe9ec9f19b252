// The evaluation of the NSDI'23 paper as findings, as far as the given data allows. Every number is computed by
// replaying traces or models, and stands beside the paper's own if its text states one. A pure function of its
// arguments.
#pragma once

#include "records/findings.hpp"
#include "research/paper_setting.hpp"
#include "research/slice_trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::research {

struct PaperStudy {
  std::vector<PaperGpu> gpus;             // not empty; V100, or else the first, is the main one
  std::string source;                     // where their workloads come from, as a sentence
  std::uint64_t seeds = 0;                // above 0
  bool of_traces = true;                  // rather than the built-in models
  std::optional<SliceTrace> slices = {};  // of data that drifts
  bool goodput = false;                   // whether to train beside a batch size that follows the goodput
};

// `progress` receives the name of each part as it starts.
records::Findings find_out(const PaperStudy& study, const std::function<void(std::string_view)>& progress = {});

}  // namespace zeus::research
