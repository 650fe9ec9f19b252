#include "report/job_figures.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace zeus::report {

namespace {

using records::ArmView;
using records::ChartPoint;
using records::ChartSeries;
using records::JobView;
using records::RecurrenceView;
using records::SeriesStyle;
using records::TryOutcome;
using records::TryView;
using records::XyChart;

constexpr std::size_t most_curves = 6;  // beside the grey one: as many as can be distinguished

Joules cost_of(const JobView& job, Joules energy, Seconds time) {
  const double eta = job.definition.eta;
  return eta * energy + (1.0 - eta) * (job.device.max_power * time);
}

void mark_front(std::vector<RunPoint>& points) {
  for (RunPoint& point : points) {
    point.on_front = std::ranges::none_of(points, [&](const RunPoint& other) {
      return other.energy <= point.energy && other.time <= point.time &&
             (other.energy < point.energy || other.time < point.time);
    });
  }
}

std::string name_of(const RunPoint& point) {
  return fmt::format("batch size {}, {:g} W", point.batch_size, point.limit.value());
}

// One series for each way in which a try can end; the tries' numbers are the labels.
std::vector<ChartSeries> by_outcome(const JobView& job, const std::string& key,
                                    const auto& value_of /* TryView -> optional<double> */) {
  std::vector<ChartSeries> series{
      {.name = "lost, left out or still running", .style = SeriesStyle::points, .points = {}, .key = key + ".other"},
      {.name = "reached the target", .style = SeriesStyle::points, .points = {}, .key = key + ".reached"},
      {.name = "stopped short of it", .style = SeriesStyle::points, .points = {}, .key = key + ".stopped"}};
  for (const TryView& one : job.tries) {
    const std::optional<double> value = value_of(one);
    if (!value) {
      continue;
    }
    std::size_t kind = 0;
    if (one.outcome == TryOutcome::reached && !one.left_out) {
      kind = 1;
    } else if ((one.outcome == TryOutcome::stopped || one.outcome == TryOutcome::exhausted) && !one.left_out) {
      kind = 2;
    }
    series[kind].points.push_back({.x = static_cast<double>(one.recurrence),
                                   .y = *value,
                                   .label = fmt::format("try {}, {} epochs", one.number, one.epochs)});
  }
  return series;
}

XyChart over_recurrences(std::string title, std::string y, const Marks& marks) {
  return {.title = std::move(title),
          .x = {.label = "recurrence"},
          .y = {.label = std::move(y)},
          .series = {},
          .reference = {},
          .marks = marks};
}

// The batch sizes to draw curves for: all with known limits; if there are too many, the default, the next one and the
// nearest.
std::vector<const ArmView*> drawn_arms(const JobView& job) {
  std::vector<const ArmView*> arms;
  for (const ArmView& arm : job.arms) {
    if (!arm.limits.empty()) {
      arms.push_back(&arm);
    }
  }
  const auto distance = [&](const ArmView* arm) {
    return arm->is_default ? -1.0
                           : std::abs(std::log2(static_cast<double>(arm->batch_size)) -
                                      std::log2(static_cast<double>(std::max(job.next.batch_size, 1))));
  };
  if (arms.size() > most_curves) {
    std::ranges::stable_sort(arms, {}, distance);
    arms.resize(most_curves);
    std::ranges::sort(arms, {}, &ArmView::batch_size);
  }
  return arms;
}

XyChart over_limits(const JobView& job, std::string title) {
  XyChart chart{.title = std::move(title),
                .x = {.label = job.device.gpus > 1 ? "power limit of each GPU (W)" : "power limit (W)"},
                .y = {.logarithmic = true},
                .series = {},
                .reference = {}};
  // Grey is for a batch size without a curve, and there is none.
  chart.series.push_back({.name = {}, .style = SeriesStyle::line, .points = {}});
  for (const ArmView* arm : drawn_arms(job)) {
    chart.series.push_back({.name = fmt::format("{}{}", arm->batch_size, arm->is_default ? " (default)" : ""),
                            .style = SeriesStyle::line_and_points,
                            .points = {}});
  }
  return chart;
}

}  // namespace

std::optional<double> expected_epochs(const JobView& job, const ArmView& arm) {
  if (arm.expected_epochs) {
    return arm.expected_epochs;
  }
  double sum = 0.0;
  double count = 0.0;
  for (const TryView& one : job.tries) {
    if (one.batch_size == arm.batch_size && one.outcome == TryOutcome::reached && !one.left_out) {
      sum += one.epochs;
      count += 1.0;
    }
  }
  return count > 0.0 ? std::optional{sum / count} : std::nullopt;
}

std::vector<RunPoint> run_points(const JobView& job) {
  std::vector<RunPoint> points;
  for (const ArmView& arm : job.arms) {
    const std::optional<double> epochs = expected_epochs(job, arm);
    if (!epochs) {
      continue;
    }
    const bool next = arm.batch_size == job.next.batch_size;
    const std::optional<Watts> chosen = next && job.next.limit ? job.next.limit : arm.best_limit;
    for (const records::LimitProfile& limit : arm.limits) {
      const Seconds time = *epochs * limit.epoch_time;
      const Joules energy = limit.average_power * time;
      points.push_back({.batch_size = arm.batch_size,
                        .limit = limit.limit,
                        .energy = energy,
                        .time = time,
                        .cost = cost_of(job, energy, time),
                        .is_default = arm.is_default && limit == arm.limits.back(),
                        .chosen = next && chosen == limit.limit});
    }
  }
  mark_front(points);
  return points;
}

XyChart beliefs_figure(const JobView& job) {
  Joules largest;
  for (const ArmView& arm : job.arms) {
    largest = std::max({largest, arm.expected_cost.value_or(Joules{}), arm.high_cost.value_or(Joules{})});
  }
  const Unit unit = unit_for(largest);
  XyChart chart{
      .title = "Cost of a run, as believed",
      .x = {.label = "batch size", .logarithmic = true},
      .y = {.label = fmt::format("cost of one run ({})", unit.name), .logarithmic = true},
      .series = {{.name = "not run yet", .style = SeriesStyle::points, .points = {}, .key = "belief.guess"},
                 {.name = "mean and 95 % interval", .style = SeriesStyle::points, .points = {}, .key = "belief.run"},
                 {.name = "what runs next", .style = SeriesStyle::large_points, .points = {}, .key = "belief.next"}},
      .reference = {}};
  for (const ArmView& arm : job.arms) {
    if (!arm.expected_cost) {
      continue;
    }
    const Joules low = arm.low_cost.value_or(*arm.expected_cost);
    const Joules high = arm.high_cost.value_or(*arm.expected_cost);
    std::size_t kind = arm.reached + arm.stopped > 0 ? 1 : 0;
    kind = arm.batch_size == job.next.batch_size ? 2 : kind;
    chart.series[kind].points.push_back({.x = static_cast<double>(arm.batch_size),
                                         .y = unit.of(*arm.expected_cost),
                                         .low = unit.of(low),
                                         .high = unit.of(high),
                                         .label = arm.is_default ? "the default" : ""});
  }
  return chart;
}

XyChart choices_figure(const JobView& job, const Marks& marks) {
  XyChart chart = over_recurrences("Batch sizes tried", "batch size", marks);
  chart.y.logarithmic = true;
  chart.series = by_outcome(job, "choice", [](const TryView& one) {
    return one.batch_size > 0 ? std::optional{static_cast<double>(one.batch_size)} : std::nullopt;
  });
  return chart;
}

XyChart limits_figure(const JobView& job, const Marks& marks) {
  XyChart chart = over_recurrences("Power limits in the end", "power limit (W)", marks);
  chart.series = by_outcome(
      job, "limit", [](const TryView& one) { return one.limit ? std::optional{one.limit->value()} : std::nullopt; });
  return chart;
}

XyChart costs_figure(const JobView& job, const Marks& marks, const std::vector<Joules>& really_run) {
  Joules largest = really_run.empty() ? Joules{} : std::ranges::max(really_run);
  for (const RecurrenceView& recurrence : job.recurrences) {
    largest = std::max({largest, recurrence.cost.value_or(Joules{}), recurrence.default_cost.value_or(Joules{})});
  }
  const Unit unit = unit_for(largest);
  XyChart chart = over_recurrences("What each recurrence cost", fmt::format("cost ({})", unit.name), marks);
  chart.y.from_zero = true;
  chart.series = {
      {.name = really_run.empty() ? "the default, as expected" : "the default, as run",
       .style = SeriesStyle::line_and_points,
       .points = {},
       .key = "cost.default"},
      {.name = "with all its tries", .style = SeriesStyle::line_and_points, .points = {}, .key = "cost.reached"},
      {.name = "given up", .style = SeriesStyle::points, .points = {}, .key = "cost.given_up"}};
  for (const RecurrenceView& recurrence : job.recurrences) {
    const double x = static_cast<double>(recurrence.number);
    const std::string label = fmt::format("{} {}", recurrence.tries, recurrence.tries == 1 ? "try" : "tries");
    if (recurrence.state != records::RecurrenceState::running && recurrence.cost) {
      const std::size_t kind = recurrence.state == records::RecurrenceState::reached ? 1 : 2;
      chart.series[kind].points.push_back({.x = x, .y = unit.of(*recurrence.cost), .label = label});
    }
    if (really_run.empty() && recurrence.default_cost) {
      chart.series[0].points.push_back({.x = x, .y = unit.of(*recurrence.default_cost), .label = {}});
    }
  }
  for (std::size_t i = 0; i < really_run.size(); ++i) {
    chart.series[0].points.push_back({.x = static_cast<double>(i + 1), .y = unit.of(really_run[i]), .label = {}});
  }
  return chart;
}

XyChart front_figure(const std::vector<RunPoint>& points) {
  Joules energy;
  Seconds time;
  for (const RunPoint& point : points) {
    energy = std::max(energy, point.energy);
    time = std::max(time, point.time);
  }
  const Unit joules = unit_for(energy);
  const Unit seconds = unit_for(time);
  XyChart chart{
      .title = "Time against energy of a whole run",
      .x = {.label = fmt::format("time to the target ({})", seconds.name), .logarithmic = true},
      .y = {.label = fmt::format("energy to the target ({})", joules.name), .logarithmic = true},
      .series =
          {{.name = "batch size and power limit", .style = SeriesStyle::faint_points, .points = {}, .key = "run.other"},
           {.name = "Pareto front", .style = SeriesStyle::line_and_points, .points = {}, .key = "run.front"},
           {.name = "the default", .style = SeriesStyle::large_points, .points = {}, .key = "run.default"},
           {.name = "what runs next", .style = SeriesStyle::large_points, .points = {}, .key = "run.chosen"}},
      .reference = {}};
  for (const RunPoint& point : points) {
    const ChartPoint drawn{.x = seconds.of(point.time), .y = joules.of(point.energy), .label = name_of(point)};
    chart.series[point.on_front ? 1 : 0].points.push_back(drawn);
    if (point.is_default) {
      chart.series[2].points.push_back(drawn);
    }
    if (point.chosen) {
      chart.series[3].points.push_back(drawn);
    }
  }
  std::ranges::sort(chart.series[1].points, {}, &ChartPoint::x);
  return chart;
}

XyChart epoch_energy_figure(const JobView& job) {
  Joules largest;
  for (const ArmView* arm : drawn_arms(job)) {
    for (const records::LimitProfile& limit : arm->limits) {
      largest = std::max(largest, limit.average_power * limit.epoch_time);
    }
  }
  const Unit unit = unit_for(largest);
  XyChart chart = over_limits(job, "Energy of an epoch, by batch size");
  chart.y.label = fmt::format("energy of an epoch ({})", unit.name);
  std::size_t series = 0;
  for (const ArmView* arm : drawn_arms(job)) {
    ChartSeries& curve = chart.series[++series];
    curve.key = fmt::format("epoch_energy.{}", arm->batch_size);
    for (const records::LimitProfile& limit : arm->limits) {
      curve.points.push_back(
          {.x = limit.limit.value(), .y = unit.of(limit.average_power * limit.epoch_time), .label = {}});
    }
  }
  return chart;
}

XyChart epoch_time_figure(const JobView& job) {
  Seconds largest;
  for (const ArmView* arm : drawn_arms(job)) {
    for (const records::LimitProfile& limit : arm->limits) {
      largest = std::max(largest, limit.epoch_time);
    }
  }
  const Unit unit = unit_for(largest);
  XyChart chart = over_limits(job, "Time of an epoch, by batch size");
  chart.y.label = fmt::format("time of an epoch ({})", unit.name);
  std::size_t series = 0;
  for (const ArmView* arm : drawn_arms(job)) {
    ChartSeries& curve = chart.series[++series];
    curve.key = fmt::format("epoch_time.{}", arm->batch_size);
    for (const records::LimitProfile& limit : arm->limits) {
      curve.points.push_back({.x = limit.limit.value(), .y = unit.of(limit.epoch_time), .label = {}});
    }
  }
  return chart;
}

records::GridChart landscape_figure(const std::vector<RunPoint>& points) {
  records::GridChart chart{.title = "Cost above the cheapest",
                           .column_label = "batch size",
                           .row_label = "power limit (W)",
                           .value_label = "cost above the cheapest, as a fraction of it",
                           .columns = {},
                           .rows = {},
                           .values = {},
                           .path = {}};
  std::vector<int> batch_sizes;
  std::vector<Watts> limits;
  for (const RunPoint& point : points) {
    batch_sizes.push_back(point.batch_size);
    limits.push_back(point.limit);
  }
  const auto distinct = [](auto& values) {
    std::ranges::sort(values);
    const auto rest = std::ranges::unique(values);
    values.erase(rest.begin(), rest.end());
  };
  distinct(batch_sizes);
  distinct(limits);
  for (const int batch_size : batch_sizes) {
    chart.columns.push_back(fmt::format("{}", batch_size));
  }
  for (const Watts limit : limits) {
    chart.rows.push_back(fmt::format("{:g}", limit.value()));
  }
  chart.values.resize(batch_sizes.size() * limits.size());
  const auto cheapest = std::ranges::min_element(points, {}, &RunPoint::cost);
  for (const RunPoint& point : points) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(batch_sizes, point.batch_size) - batch_sizes.begin());
    const auto row = static_cast<std::size_t>(std::ranges::find(limits, point.limit) - limits.begin());
    chart.values[row * batch_sizes.size() + column] = point.cost / cheapest->cost - 1.0;
    if (point.chosen) {
      chart.path = {{.column = column, .row = row}};
    }
  }
  return chart;
}

}  // namespace zeus::report
