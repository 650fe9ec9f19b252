// The jobs and GPUs of the NSDI'23 paper's evaluation (its tables 1 and 2), as far as traces or models of them are
// given. Plain values; safe to read from any thread.
#pragma once

#include "simulate/workload.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::research {

// How the paper weighs energy against time where it does not vary that.
inline constexpr double paper_eta = 0.5;

struct PaperJob {
  std::string_view name;  // as in the paper's figures
  simulate::JobSelection selection;
};

// The six jobs, in the order of the paper's figures.
std::span<const PaperJob> paper_jobs();

struct PaperWorkload {
  std::string name;
  simulate::Workload workload;
};

struct PaperGpu {
  std::string name;
  std::vector<PaperWorkload> workloads;
};

// The six jobs in the traces, for each power trace. A GPU is named after the last part of its trace's file name
// (summary_power_v100.csv is V100). If a GPU's trace lacks the default batch size, its largest becomes the default.
// Traces without any of the jobs are an invalid_argument Error.
std::vector<PaperGpu> paper_gpus(const trace::TrainTrace& train, std::span<const trace::PowerTrace> power);
// The same from the built-in workload models, on the paper's four GPUs: models of V100 and A40 are fitted to traces,
// those of RTX6000 and P100 follow data sheets.
std::vector<PaperGpu> modelled_gpus();

}  // namespace zeus::research
