#include "research/paper_study.hpp"

#include "research/paper_capriccio.hpp"
#include "research/paper_cluster.hpp"
#include "research/paper_convergence.hpp"
#include "research/paper_drift.hpp"
#include "research/paper_goodput.hpp"
#include "research/paper_potential.hpp"
#include "research/paper_profiling.hpp"
#include "research/paper_scorecard.hpp"
#include "research/paper_sensitivity.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::research {

namespace {

records::FindingsSection omissions() {
  return {
      .title = "What is missing",
      .paragraphs =
          {"Section 6.3 replays a cluster trace, which is not given here. Section 6.4 trains BERT on Capriccio: "
           "nothing here "
           "does. Both experiments use other data, as their sections say.",
           "Section 6.6 compares four A40 GPUs under Zeus with Pollux (12 % more time, 21 % less energy): there "
           "is no trace of Pollux, nor one of several GPUs, to replay. With --goodput an analogue is trained.",
           "Section 7 discusses single batch sizes and moves to other GPUs, and measures neither: `zeus simulate job` "
           "does, for any job (--move)."},
      .figures = {}};
}

}  // namespace

records::Findings find_out(const PaperStudy& study, const std::function<void(std::string_view)>& progress) {
  if (study.seeds == 0 || study.gpus.empty()) {
    throw Error{ErrorKind::invalid_argument, "the paper's experiments need a seed and a GPU",
                "give at least one of each"};
  }
  const std::uint64_t seeds = study.seeds;
  const std::vector<PaperGpu>& gpus = study.gpus;
  const auto v100 = std::ranges::find(gpus, "V100", &PaperGpu::name);
  const PaperGpu& main = v100 == gpus.end() ? gpus.front() : *v100;
  records::Findings findings{
      .title = "The Zeus paper, replayed",
      .paragraphs = {fmt::format(
          "Every experiment of \"Zeus: Understanding and Optimizing GPU Energy Consumption of DNN "
          "Training\" (NSDI'23) that can be replayed, with the paper's own numbers beside those found here. "
          "{} {} seeds; the main GPU is {}. \"zeus\" is the paper's policy, the default policy is this "
          "project's own; both know only what their own runs show them.",
          study.source, seeds, main.name)},
      .scorecard = {},
      .sections = {}};
  const auto add = [&](std::string_view what, auto&& section) {
    if (progress) {
      progress(what);
    }
    findings.sections.push_back(section());
  };
  add("what could be saved", [&] { return potential_section(gpus); });
  add("time against energy", [&] { return front_section(main); });
  add("energy over each knob", [&] { return shape_section(main); });
  add("where the policies end", [&] { return convergence_section(main, seeds); });
  add("how batch sizes are chosen", [&] { return choice_section(main); });
  add("what exploration costs", [&] { return regret_section(main, seeds); });
  add("search paths", [&] { return path_section(main); });
  add("a cluster", [&] { return cluster_section(main, seeds); });
  add("drift", [&] { return drift_section(main, seeds); });
  if (study.slices) {
    add("slices of tweets", [&] { return capriccio_section(main, *study.slices, seeds); });
  }
  if (study.goodput) {
    add("four GPUs and goodput", [&] { return goodput_section(seeds); });
  }
  add("what profiling costs", [&] { return overhead_section(main); });
  add("the power-limit plans", [&] { return profiling_section(seeds); });
  add("eta", [&] { return eta_section(main, seeds); });
  add("beta", [&] { return beta_section(main, seeds); });
  add("the parts of policy zeus", [&] { return ablation_section(main, seeds); });
  add("GPU models", [&] { return gpu_section(gpus, seeds); });
  findings.sections.push_back(omissions());
  ScorecardSetting setting{.main_gpu = main.name, .gpus = {}, .of_traces = study.of_traces};
  for (const PaperGpu& gpu : gpus) {
    setting.gpus.push_back(gpu.name);
  }
  findings.scorecard = scorecard(findings.sections, setting);
  return findings;
}

}  // namespace zeus::research
