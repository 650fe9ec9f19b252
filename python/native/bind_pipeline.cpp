// zeus::PipelineClocks, zeus::PipelineProfiler and zeus::plan_pipeline for Python.
#include "bindings.hpp"
#include "freed_without_gil.hpp"

#include <zeus/pipeline.hpp>

#include <pybind11/functional.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zeus::python {

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

py::dict plan_ranks(const std::vector<RankTuple>& tuples, double blocking_power, int copies, double max_slowdown) {
  std::vector<PipelineRank> ranks;
  ranks.reserve(tuples.size());
  for (const RankTuple& tuple : tuples) {
    ranks.push_back(rank_from(tuple));
  }
  const PipelinePlanOptions options{
      .blocking_power = Watts{blocking_power}, .copies = copies, .max_slowdown = max_slowdown};
  const PlannedPipeline plan = without_gil([&] { return plan_pipeline(ranks, options); });
  py::list frequencies;
  for (const std::vector<PipelineInstruction>& rank : plan.ranks) {
    py::list instructions;
    for (const PipelineInstruction& one : rank) {
      instructions.append(py::make_tuple(one.name, one.frequency.value()));
    }
    frequencies.append(std::move(instructions));
  }
  py::dict planned;
  planned["time_s"] = plan.time.value();
  planned["energy_j"] = plan.energy.value();
  planned["fastest_time_s"] = plan.fastest_time.value();
  planned["fastest_energy_j"] = plan.fastest_energy.value();
  planned["frequencies"] = std::move(frequencies);
  return planned;
}

}  // namespace

void bind_pipeline(py::module_& module) {
  py::class_<PipelineClocks, FreedWithoutGil<PipelineClocks>>(module, "PipelineClocks",
                                                              "Sets one GPU's clocks along a plan.")
      .def(py::init([](const std::vector<std::pair<std::string, double>>& instructions, int gpu,
                       std::optional<double> lead_s) {
             return FreedWithoutGil<PipelineClocks>{make_clocks(instructions, gpu, lead_s).release()};
           }),
           py::arg("instructions"), py::arg("gpu"), py::arg("lead_s"))
      .def(
          "begin", [](PipelineClocks& self, const std::string& name) { without_gil([&] { self.begin(name); }); },
          py::arg("instruction"))
      .def(
          "end", [](PipelineClocks& self, const std::string& name) { without_gil([&] { self.end(name); }); },
          py::arg("instruction"))
      .def("end_iteration", [](PipelineClocks& self) { without_gil([&self] { self.end_iteration(); }); })
      .def_property_readonly("latency",
                             [](const PipelineClocks& self) -> std::optional<double> {
                               const auto seen = without_gil([&self] { return self.latency(); });
                               return seen ? std::optional{seen->value()} : std::nullopt;
                             })
      .def_property_readonly("trouble",
                             [](const PipelineClocks& self) { return without_gil([&] { return self.trouble(); }); })
      .def("close", [](PipelineClocks& self) { without_gil([&self] { self.close(); }); });

  // Callables take the GIL for each call, and their exceptions pass through.
  py::class_<PipelineProfiler, FreedWithoutGil<PipelineProfiler>>(module, "PipelineProfiler",
                                                                  "Measures a stage's instructions alone.")
      .def(py::init([](int gpu, double window_s) {
             return FreedWithoutGil<PipelineProfiler>{
                 without_gil([&] {
                   return std::make_unique<PipelineProfiler>(
                       PipelineProfilerOptions{.gpu = gpu, .window = Seconds{window_s}});
                 }).release()};
           }),
           py::arg("gpu"), py::arg("window_s"))
      .def(
          "measure_blocking",
          [](PipelineProfiler& self, const std::function<void()>& wait) -> std::optional<double> {
            const auto power = without_gil([&] { return self.measure_blocking(wait); });
            return power ? std::optional{power->value()} : std::nullopt;
          },
          py::arg("wait"))
      .def(
          "measure",
          [](PipelineProfiler& self, int stage, const std::string& instruction, const PipelineProfiler::Work& work,
             const std::string& including) { without_gil([&] { self.measure(stage, instruction, work, including); }); },
          py::arg("stage"), py::arg("instruction"), py::arg("work"), py::arg("including"))
      .def(
          "measure_beside",
          [](PipelineProfiler& self, int stage, const std::string& instruction, double frequency,
             const PipelineProfiler::Work& work, const std::string& including) {
            without_gil([&] { self.measure_beside(stage, instruction, Megahertz{frequency}, work, including); });
          },
          py::arg("stage"), py::arg("instruction"), py::arg("frequency"), py::arg("work"), py::arg("including"))
      .def_property_readonly("rows", rows_of)
      .def_property_readonly("trouble", &PipelineProfiler::trouble)
      .def("close", [](PipelineProfiler& self) { without_gil([&self] { self.close(); }); });

  module.def("plan_pipeline", plan_ranks, py::arg("ranks"), py::arg("blocking_power_w"), py::arg("copies"),
             py::arg("max_slowdown"));
}

}  // namespace zeus::python
