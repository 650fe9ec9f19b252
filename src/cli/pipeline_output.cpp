#include "cli/pipeline_output.hpp"

#include "base/amount_text.hpp"
#include "optimize/pipeline/measured_timeline.hpp"
#include "optimize/pipeline/timeline.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

namespace {

using optimize::pipeline::FrequencyChoice;
using optimize::pipeline::FrontierPoint;

records::Timeline fastest_timeline(const PipelineResult& result) {
  const auto options = optimize::pipeline::fastest_options(result.graph, result.blocking_power);
  const Seconds fastest = result.frontier.fastest();
  records::Timeline timeline = optimize::pipeline::timeline_of(result.graph, options, fastest, result.blocking_power);
  timeline.bound = result.frontier.energy_at(fastest);
  return timeline;
}

// "1.2 % more time", or "less"; what rounds to 0 is "more".
std::string change_of(double share, std::string_view more, std::string_view less) {
  return fmt::format("{:.1f} % {}", std::abs(share) * 100.0, share <= -0.0005 ? less : more);
}

std::string changes_of(double saved, double slower) {
  return change_of(saved, "less energy", "more energy") + ", " + change_of(slower, "more time", "less time");
}

double share_saved(Joules before, Joules after) {
  return 1.0 - after / before;
}

double share_slower(Seconds before, Seconds after) {
  return after / before - 1.0;
}

records::MeasuredRun run_of(const records::MeasuredIteration& iteration) {
  records::MeasuredRun run{.timeline = optimize::pipeline::timeline_of(iteration),
                           .time_uncertainty = iteration.time_uncertainty,
                           .energy_uncertainty = iteration.energy_uncertainty,
                           .iterations = iteration.iterations,
                           .claimed = {}};
  if (iteration.claimed_time && iteration.claimed_energy) {
    run.claimed = records::StudyPoint{*iteration.claimed_time, *iteration.claimed_energy};
  }
  return run;
}

bool both_claim(const records::MeasuredIteration& before, const records::MeasuredIteration& after) {
  return before.claimed_time && before.claimed_energy && after.claimed_time && after.claimed_energy;
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
  const Seconds least_energy = result.frontier.least_energy();
  records::JsonWriter json;
  const auto put_point = [&](Seconds time, Joules energy) {
    json.put("time_s", time);
    json.put("energy_j", energy);
  };
  const auto put_points = [&](std::string_view key, bool slower) {
    std::vector<FrontierPoint> points;
    std::ranges::copy_if(result.frontier.points(), std::back_inserter(points),
                         [&](const FrontierPoint& point) { return (point.time > least_energy) == slower; });
    json.put_list(key, points,
                  [&](const FrontierPoint& point) { json.object([&] { put_point(point.time, point.energy); }); });
  };
  json.object([&] {
    put_points("frontier", false);
    std::size_t place = 0;
    json.put_list("plans", result.choices, [&](const FrequencyChoice& choice) {
      json.object([&] {
        json.put_fields(plan_of(result, place++));
        json.put("bound_j", choice.bound);
        json.put("unhindered_time_s", choice.iteration_time);
      });
    });
    json.put("solve_s", result.solving);
    json.put("all_fastest", [&] { put_point(result.frontier.fastest(), fastest_timeline(result).energy); });
    put_points("slower_than_least_energy", true);
  });
  return json.take() + '\n';
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

records::MeasuredStudy measured_study_of(const records::MeasuredIteration& before,
                                         const records::MeasuredIteration& after) {
  return {.devices = before.ranks, .before = run_of(before), .after = run_of(after)};
}

std::string measured_table(const records::MeasuredIteration& before, const records::MeasuredIteration& after) {
  std::string text = fmt::format("{:8}{:>24}{:>24}{:>12}\n", "", "time", "energy", "iterations");
  const auto row = [&](std::string_view name, const records::MeasuredIteration& one) {
    fmt::format_to(std::back_inserter(text), "{:8}{:>24}{:>24}{:>12}\n", name,
                   with_interval(one.time.value(), one.time_uncertainty.value(), "s"),
                   with_interval(one.energy.value(), one.energy_uncertainty.value(), "J"), one.iterations);
  };
  row("before", before);
  row("after", after);
  text += "\n" + changes_of(share_saved(before.energy, after.energy), share_slower(before.time, after.time));
  if (both_claim(before, after)) {
    text += "; claimed by the plan: " + changes_of(share_saved(*before.claimed_energy, *after.claimed_energy),
                                                   share_slower(*before.claimed_time, *after.claimed_time));
  }
  return text + '\n';
}

std::string measured_json(const records::MeasuredIteration& before, const records::MeasuredIteration& after) {
  records::JsonWriter json;
  const auto put = [&](std::string_view key, const records::MeasuredIteration& one) {
    json.put(key, [&] {
      json.put("time_s", one.time);
      json.put("time_uncertainty_s", one.time_uncertainty);
      json.put("energy_j", one.energy);
      json.put("energy_uncertainty_j", one.energy_uncertainty);
      json.put("iterations", one.iterations);
    });
  };
  json.object([&] {
    put("before", before);
    put("after", after);
    json.put("saved_share", share_saved(before.energy, after.energy));
    json.put("slower_share", share_slower(before.time, after.time));
    std::optional<double> saved;
    std::optional<double> slower;
    if (both_claim(before, after)) {
      saved = share_saved(*before.claimed_energy, *after.claimed_energy);
      slower = share_slower(*before.claimed_time, *after.claimed_time);
    }
    json.put("claimed_saved_share", saved);
    json.put("claimed_slower_share", slower);
  });
  return json.take() + '\n';
}

}  // namespace zeus::cli
