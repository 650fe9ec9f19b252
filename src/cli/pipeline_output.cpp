#include "cli/pipeline_output.hpp"

#include "optimize/pipeline/timeline.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace zeus::cli {

namespace {

using optimize::pipeline::FrequencyChoice;
using optimize::pipeline::Frontier;
using optimize::pipeline::FrontierPoint;

records::Timeline fastest_timeline(const PipelineResult& result) {
  const auto options = optimize::pipeline::fastest_options(result.graph, result.blocking_power);
  const Seconds fastest = result.frontier.fastest();
  records::Timeline timeline = optimize::pipeline::timeline_of(result.graph, options, fastest, result.blocking_power);
  timeline.bound = result.frontier.energy_at(fastest);
  return timeline;
}

nlohmann::ordered_json point_json(const FrontierPoint& point) {
  return {{"time_s", point.time.value()}, {"energy_j", point.energy.value()}};
}

}  // namespace

records::PipelinePlan plan_of(const PipelineResult& result, std::size_t place) {
  const FrequencyChoice& choice = result.choices[place];
  records::PipelinePlan plan{.time = result.times[place], .energy = choice.energy, .frequencies = {}};
  plan.frequencies.resize(result.graph.devices);
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    const records::Computation& computation = result.graph.computations[i];
    plan.frequencies[computation.device].push_back(
        {.name = computation.instruction, .frequency = choice.options[i].frequency});
  }
  return plan;
}

std::string pipeline_table(const PipelineResult& result) {
  const records::Timeline fastest = fastest_timeline(result);
  std::string text = fmt::format(
      "{} computations on {} devices, {} GPU{} each; frontier of {} points in {:.3f} s\n"
      "all-fastest: {:.4f} s, {:.2f} J; least energy at {:.4f} s\n\n"
      "   time (s)   energy (J)   saved (%)   slower (%)   rounding loss (%)\n",
      result.graph.computations.size(), result.graph.devices, result.graph.copies, result.graph.copies == 1 ? "" : "s",
      result.frontier.points().size(), result.solving.value(), fastest.time.value(), fastest.energy.value(),
      result.frontier.least_energy().value());
  for (std::size_t i = 0; i < result.choices.size(); ++i) {
    const FrequencyChoice& choice = result.choices[i];
    fmt::format_to(std::back_inserter(text), "{:>11.4f}  {:>11.2f}  {:>10.2f}  {:>11.2f}  {:>18.3f}\n",
                   result.times[i].value(), choice.energy.value(), 100.0 * (1.0 - choice.energy / fastest.energy),
                   100.0 * (result.times[i] / fastest.time - 1.0), 100.0 * (choice.energy / choice.bound - 1.0));
  }
  return text;
}

std::string pipeline_json(const PipelineResult& result) {
  nlohmann::ordered_json object;
  object["frontier"] = nlohmann::ordered_json::array();
  object["plans"] = nlohmann::ordered_json::array();
  object["solve_s"] = result.solving.value();
  object["all_fastest"] = {{"time_s", result.frontier.fastest().value()},
                           {"energy_j", fastest_timeline(result).energy.value()}};
  object["slower_than_least_energy"] = nlohmann::ordered_json::array();
  for (const FrontierPoint& point : result.frontier.points()) {
    object[point.time <= result.frontier.least_energy() ? "frontier" : "slower_than_least_energy"].push_back(
        point_json(point));
  }
  for (std::size_t i = 0; i < result.choices.size(); ++i) {
    nlohmann::ordered_json plan = nlohmann::ordered_json::parse(to_json(plan_of(result, i)));
    plan["bound_j"] = result.choices[i].bound.value();
    plan["unhindered_time_s"] = result.choices[i].iteration_time.value();
    object["plans"].push_back(std::move(plan));
  }
  return object.dump() + '\n';
}

records::PipelineStudy study_of(const PipelineResult& result) {
  records::PipelineStudy study{
      .title = "Pipeline frequencies",
      .subtitle = fmt::format("{} computations on {} devices, {} GPU{} each, which draw {} W while they block",
                              result.graph.computations.size(), result.graph.devices, result.graph.copies,
                              result.graph.copies == 1 ? "" : "s", result.blocking_power.value()),
      .devices = result.graph.devices,
      .copies = result.graph.copies,
      .blocking_power = result.blocking_power,
      .least_energy = result.frontier.least_energy(),
      .frontier = {},
      .fastest = fastest_timeline(result),
      .plans = {},
      .chosen = 0};
  const Seconds last = std::max(result.frontier.least_energy(),
                                result.times.empty() ? Seconds{0} : *std::ranges::max_element(result.times));
  for (const FrontierPoint& point : result.frontier.points()) {
    if (point.time <= last) {
      study.frontier.push_back({point.time, point.energy});
    }
  }
  for (std::size_t i = 0; i < result.choices.size(); ++i) {
    study.plans.push_back(optimize::pipeline::timeline_of(result.graph, result.choices[i].options, result.times[i],
                                                          result.blocking_power));
    study.plans.back().bound = result.choices[i].bound;
  }
  return study;
}

}  // namespace zeus::cli
