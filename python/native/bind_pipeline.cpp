// zeus::PipelineClocks for Python.
#include "bindings.hpp"
#include "freed_without_gil.hpp"

#include <zeus/pipeline.hpp>

#include <memory>
#include <string>
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
}

}  // namespace zeus::python
