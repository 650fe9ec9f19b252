// What `zeus pipeline` prints: its table, its JSON (docs/cli.md) and the content of its report. Pure functions.
#pragma once

#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "records/computation_graph.hpp"
#include "records/measured_iteration.hpp"
#include "records/pipeline_plan.hpp"
#include "records/pipeline_study.hpp"

#include <zeus/units.hpp>

#include <string>
#include <vector>

namespace zeus::cli {

struct PipelineResult {
  const records::ComputationGraph& graph;
  const optimize::pipeline::Frontier& frontier;
  Watts blocking_power;
  std::vector<Seconds> times;  // of the iterations that plans were asked for
  std::vector<optimize::pipeline::FrequencyChoice> choices;
  Seconds solving;
};

records::PipelinePlan plan_of(const PipelineResult& result, std::size_t place);
std::string pipeline_table(const PipelineResult& result);
// One line with its end.
std::string pipeline_json(const PipelineResult& result);
records::PipelineStudy study_of(const PipelineResult& result);

// The same of iterations that were measured without a plan and with it.
std::string measured_table(const records::MeasuredIteration& before, const records::MeasuredIteration& after);
std::string measured_json(const records::MeasuredIteration& before, const records::MeasuredIteration& after);
records::MeasuredStudy measured_study_of(const records::MeasuredIteration& before,
                                         const records::MeasuredIteration& after);

}  // namespace zeus::cli
