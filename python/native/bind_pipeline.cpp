// zeus::PipelineClocks, zeus::PipelineProfiler and zeus::plan_pipeline for Python.
#include "bindings.hpp"

#include <zeus/pipeline.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zeus::python {

template <>
inline constexpr bool waits_to_end<PipelineClocks> = true;
template <>
inline constexpr bool waits_to_end<PipelineProfiler> = true;

namespace {

std::unique_ptr<PipelineClocks> make_clocks(const std::vector<std::pair<std::string, double>>& instructions, int gpu,
                                            std::optional<double> lead_s) {
  std::vector<PipelineInstruction> plan;
  plan.reserve(instructions.size());
  for (const auto& [name, megahertz] : instructions) {
    plan.push_back({.name = name, .frequency = Megahertz{megahertz}});
  }
  PipelineClocksOptions options{.gpu = gpu, .lead = std::nullopt, .log_trouble = false};
  if (lead_s) {
    options.lead = Seconds{*lead_s};
  }
  return without_gil([&] { return std::make_unique<PipelineClocks>(std::move(plan), options); });
}

// Stage, instruction, MHz, seconds, half-width, joules, half-width.
using MeasuredRow = std::tuple<int, std::string, double, double, double, double, double>;

std::vector<MeasuredRow> rows_of(const PipelineProfiler& profiler) {
  std::vector<MeasuredRow> rows;
  for (const PipelineMeasurement& one : profiler.measurements()) {
    rows.emplace_back(one.stage, one.instruction, one.frequency.value(), one.time.value(), one.time_uncertainty.value(),
                      one.energy.value(), one.energy_uncertainty.value());
  }
  return rows;
}

// Each rank's steps (instruction, stage, micro-batch) and rows.
using RankTuple = std::pair<std::vector<std::tuple<std::string, int, int>>, std::vector<MeasuredRow>>;

PipelineRank rank_from(const RankTuple& tuple) {
  PipelineRank rank;
  for (const auto& [instruction, stage, microbatch] : tuple.first) {
    rank.steps.push_back({.instruction = instruction, .stage = stage, .microbatch = microbatch});
  }
  for (const auto& [stage, instruction, frequency, time, time_uncertainty, energy, energy_uncertainty] : tuple.second) {
    rank.measurements.push_back({.stage = stage,
                                 .instruction = instruction,
                                 .frequency = Megahertz{frequency},
                                 .time = Seconds{time},
                                 .time_uncertainty = Seconds{time_uncertainty},
                                 .energy = Joules{energy},
                                 .energy_uncertainty = Joules{energy_uncertainty}});
  }
  return rank;
}

Dict plan_ranks(const std::vector<RankTuple>& tuples, double blocking_power, int copies, double max_slowdown) {
  std::vector<PipelineRank> ranks;
  ranks.reserve(tuples.size());
  for (const RankTuple& tuple : tuples) {
    ranks.push_back(rank_from(tuple));
  }
  const PipelinePlanOptions options{
      .blocking_power = Watts{blocking_power}, .copies = copies, .max_slowdown = max_slowdown};
  const PlannedPipeline plan = without_gil([&] { return plan_pipeline(ranks, options); });
  List frequencies;
  for (const std::vector<PipelineInstruction>& rank : plan.ranks) {
    List instructions;
    for (const PipelineInstruction& one : rank) {
      instructions.append(tuple_of(one.name, one.frequency.value()));
    }
    frequencies.append(instructions);
  }
  Dict planned;
  planned.set("time_s", plan.time.value());
  planned.set("energy_j", plan.energy.value());
  planned.set("fastest_time_s", plan.fastest_time.value());
  planned.set("fastest_energy_j", plan.fastest_energy.value());
  planned.set("frequencies", frequencies);
  return planned;
}

}  // namespace

void bind_pipeline(const Object& module) {
  Class<PipelineClocks>(module, "PipelineClocks", "Sets one GPU's clocks along a plan.")
      .made_by(As<&make_clocks>{}, {"instructions", "gpu", "lead_s"})
      .method("begin", [](PipelineClocks& self, const std::string& name) { without_gil([&] { self.begin(name); }); },
              {"instruction"})
      .method("end", [](PipelineClocks& self, const std::string& name) { without_gil([&] { self.end(name); }); },
              {"instruction"})
      .method("end_iteration", [](PipelineClocks& self) { without_gil([&self] { self.end_iteration(); }); })
      .property("latency",
                [](const PipelineClocks& self) -> std::optional<double> {
                  const auto seen = without_gil([&self] { return self.latency(); });
                  return seen ? std::optional{seen->value()} : std::nullopt;
                })
      .property("trouble", [](const PipelineClocks& self) { return without_gil([&] { return self.trouble(); }); })
      .method("close", [](PipelineClocks& self) { without_gil([&self] { self.close(); }); });

  // Callables take the GIL for each call, and their exceptions pass through.
  Class<PipelineProfiler>(module, "PipelineProfiler", "Measures a stage's instructions alone.")
      .made_by(
          [](int gpu, double window_s) {
            return without_gil([&] {
              return std::make_unique<PipelineProfiler>(
                  PipelineProfilerOptions{.gpu = gpu, .window = Seconds{window_s}});
            });
          },
          {"gpu", "window_s"})
      .method("measure_blocking",
              [](PipelineProfiler& self, const std::function<void()>& wait) -> std::optional<double> {
                const auto power = without_gil([&] { return self.measure_blocking(wait); });
                return power ? std::optional{power->value()} : std::nullopt;
              },
              {"wait"})
      .method(
          "measure",
          [](PipelineProfiler& self, int stage, const std::string& instruction, const PipelineProfiler::Work& work,
             const std::string& including) { without_gil([&] { self.measure(stage, instruction, work, including); }); },
          {"stage", "instruction", "work", "including"})
      .method("measure_beside",
              [](PipelineProfiler& self, int stage, const std::string& instruction, double frequency,
                 const PipelineProfiler::Work& work, const std::string& including) {
                without_gil([&] { self.measure_beside(stage, instruction, Megahertz{frequency}, work, including); });
              },
              {"stage", "instruction", "frequency", "work", "including"})
      .property("rows", As<&rows_of>{})
      .property("trouble", As<&PipelineProfiler::trouble>{})
      .method("close", [](PipelineProfiler& self) { without_gil([&self] { self.close(); }); });

  add_function(module, "plan_pipeline", As<&plan_ranks>{}, {"ranks", "blocking_power_w", "copies", "max_slowdown"});
}

}  // namespace zeus::python
