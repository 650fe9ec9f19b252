// The evaluation of the NSDI'23 paper, as far as what is given allows, as findings to be shown: every number computed
// by replaying traces or models, and the paper's own beside it where its text states one. A pure function of its
// arguments.
#pragma once

#include "records/findings.hpp"
#include "simulate/paper_setting.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::simulate {

struct PaperStudy {
  std::vector<PaperGpu> gpus;  // not empty; V100, or else the first, is the main one
  std::string source;          // where their workloads come from, as a sentence
  std::uint64_t seeds = 0;     // above 0
};

// `progress` is told what is being worked on.
records::Findings find_out(const PaperStudy& study, const std::function<void(std::string_view)>& progress = {});

}  // namespace zeus::simulate
