#include "jobs/default_runs.hpp"

#include "base/portable_math.hpp"
#include "base/student_quantile.hpp"
#include "optimize/cost/energy_time_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace zeus::jobs {

namespace {

// A shorter run is mostly the start of its program, which differs from run to run.
constexpr Seconds shortest_run{2};
// The mean start is that of this many latest starts.
constexpr std::size_t starts_remembered = 4;
// Assumed relative half-widths: of a start seen once at this batch size, of one seen at another, of an epoch seen once,
// and the least for the comparison of two limits by slices.
constexpr double of_single_start = 0.1;
constexpr double of_another_start = 0.3;
constexpr double of_single_epoch = 0.02;
constexpr double of_slices = 0.01;
// Slices compare steps. Evaluation and the like may not slow down under a limit at all. If their share of an epoch is
// unknown, they are assumed to be at most this much of it.
constexpr double beside_steps = 0.3;
// Epochs are counted whole, so runs with equal counts may still differ by this much. Assumed.
constexpr double hidden_deviation = 0.25;
// How many differences between runs it takes to know their scatter: those of three runs of one batch size.
constexpr int least_freedom = 2;

// The half-width of a mean of values; each value scatters by at least `least`.
double half_width_of_mean(const Scatter& scatter, double least = 0.0) {
  const double deviation = std::max(scatter.deviation().value_or(0.0), least);
  return student_quantile(scatter.count - 1) * deviation / std::sqrt(scatter.count);
}

bool covers(std::span<const records::LimitProfile> limits, const records::JobDevice& device) {
  return !limits.empty() && limits.back().limit == device.power_limits.back();
}

// Under the highest limit. A lower limit cannot make the same training faster; slices that show it faster are wrong.
Seconds shortest_epoch(std::span<const records::LimitProfile> limits) {
  return std::ranges::min(limits, {}, &records::LimitProfile::epoch_time).epoch_time;
}

struct Power {
  Seconds time;
  Watts power;
};

// Converts a measurement under one limit to the highest limit, by the ratio that slices show.
std::optional<Power> by_highest(const records::WholeEpochs& whole, const records::JobDevice& device,
                                std::span<const records::LimitProfile> limits) {
  const Power seen{.time = whole.mean_time(), .power = whole.energy / whole.time};
  if (whole.limit == device.power_limits.back()) {
    return seen;
  }
  const auto here = std::ranges::find(limits, whole.limit, &records::LimitProfile::limit);
  if (!covers(limits, device) || here == limits.end()) {
    return std::nullopt;
  }
  return Power{.time = seen.time * (shortest_epoch(limits) / here->epoch_time),
               .power = seen.power * (limits.back().average_power / here->average_power)};
}

// The half-width of the comparison of two limits by slices.
double half_width_of_slices(Watts one, std::span<const records::LimitProfile> limits) {
  const auto here = std::ranges::find(limits, one, &records::LimitProfile::limit);
  const auto known = here == limits.end() ? std::nullopt : records::uncertainty(*here);
  const auto of_highest = limits.empty() ? std::nullopt : records::uncertainty(limits.back());
  return known && of_highest ? std::max(std::hypot(*known, *of_highest), of_slices) : of_slices;
}

// The half-width of an epoch under the highest limit; `whole` is the latest seen under any limit.
double half_width_of_epoch(const records::WholeEpochs& whole, Unit unit, const Power& epoch,
                           std::span<const records::LimitProfile> limits, Watts highest) {
  double by_scatter = of_single_epoch;
  if (whole.count > 1 && whole.time_deviation && whole.energy_deviation) {
    const double deviation =
        std::max(*whole.time_deviation / whole.mean_time(), *whole.energy_deviation / whole.mean_energy());
    by_scatter = std::min(by_scatter, student_quantile(whole.count - 1) * deviation / std::sqrt(whole.count));
  }
  if (whole.limit == highest) {
    return by_scatter;
  }
  const double apart = std::max(std::abs(epoch.time / whole.mean_time() - 1.0),
                                std::abs(epoch.power * epoch.time / whole.mean_energy() - 1.0));
  // If the share outside of steps is known, the limit was assumed to affect it half as much as the steps.
  const bool told = unit == Unit::epoch && whole.beside_steps;
  const double in_doubt = told ? 0.5 * *whole.beside_steps / (1.0 - 0.5 * *whole.beside_steps) : beside_steps;
  return std::hypot(by_scatter, half_width_of_slices(whole.limit, limits), in_doubt * apart);
}

}  // namespace

DefaultRun default_run(const DefaultParts& parts, const EpochCount& epochs) {
  return {.value = parts.start + parts.epoch * epochs.mean,
          .by_start = parts.start_half_width,
          .by_epoch = parts.epoch * (epochs.mean * parts.epoch_half_width),
          .by_count = parts.epoch * epochs.half_width};
}

void DefaultRuns::define(int default_size, bool has_target) {
  has_target_ = has_target;
  unit_ = has_target ? Unit::epoch : Unit::second;
  lengths_.clear();
  choose(default_size);
}

void DefaultRuns::choose(int default_size) {
  default_size_ = default_size;
  for (On& on : on_) {
    on.default_energy = {};
    on.default_time = {};
  }
}

bool DefaultRuns::ran_default(const records::JobDevice& device, const records::TryFinished& finished) const {
  return finished.batch_size == default_size_ && finished.result.limit == device.power_limits.back() &&
         !finished.result.progress.gpus.empty();
}

void DefaultRuns::count(const records::JobDevice& device, const records::TryFinished& finished,
                        std::span<const records::LimitProfile> limits) {
  const int epochs = finished.result.progress.epochs;
  if (unit_ == Unit::second && epochs > 1) {
    unit_ = Unit::epoch;
    lengths_.clear();
  }
  if (unit_ == Unit::epoch) {
    if (epochs > 0) {
      lengths_[finished.batch_size].add(epochs);
    }
    return;
  }
  if (length_on_ != device) {
    length_on_ = device;
    lengths_.clear();
  }
  if (const auto& whole = finished.result.whole_epochs) {
    if (const auto there = by_highest(*whole, device, limits)) {
      lengths_[finished.batch_size].add(there->time.value());
    }
  }
}

void DefaultRuns::learn(const records::JobDevice& device, const records::TryFinished& finished,
                        std::span<const records::LimitProfile> limits) {
  if (finished.result.left_out) {
    return;
  }
  const int batch_size = finished.batch_size;
  if (const std::optional<records::WholeEpochs>& whole = finished.result.whole_epochs) {
    Runs& runs = on(device).sizes[batch_size];
    runs.latest_epochs = whole;
    if (whole->start_time && whole->start_energy) {
      runs.starts.emplace_back(*whole->start_time, *whole->start_energy);
      if (runs.starts.size() > starts_remembered) {
        runs.starts.erase(runs.starts.begin());
      }
    }
  }
  if (!reached(finished.result.outcome)) {
    return;
  }
  count(device, finished, limits);
  if (ran_default(device, finished)) {
    on(device).default_energy.add(finished.energy.value());
    on(device).default_time.add(finished.result.progress.time.value());
  }
}

DefaultRuns::On& DefaultRuns::on(const records::JobDevice& device) {
  const auto known = std::ranges::find(on_, device, &On::device);
  return known != on_.end()
             ? *known
             : on_.emplace_back(On{.device = device, .sizes = {}, .default_energy = {}, .default_time = {}});
}

Spent DefaultRuns::spent(const records::JobDevice& device, Joules energy, Seconds time) const {
  return {.energy = energy, .time = time, .cost = optimize::EnergyTimeCost{eta_, device.max_power}.of(energy, time)};
}

// The mean start with its half-width. If the default has not run, that of another batch size: what comes before the
// first epoch is about the same.
std::optional<std::pair<Spent, Spent>> DefaultRuns::start(const On& on) const {
  const auto told = [](const auto& size) { return !size.second.starts.empty(); };
  auto size = on.sizes.find(default_size_);
  const bool own = size != on.sizes.end() && told(*size);
  if (!own) {
    size = std::ranges::find_if(on.sizes, told);
  }
  if (size == on.sizes.end()) {
    return std::nullopt;
  }
  Scatter times;
  Scatter energies;
  for (const auto& [time, energy] : size->second.starts) {
    times.add(time.value());
    energies.add(energy.value());
  }
  const Spent mean = spent(on.device, Joules{energies.mean}, Seconds{times.mean});
  if (!own || times.count == 1) {
    return std::pair{mean, mean * (own ? of_single_start : of_another_start)};
  }
  return std::pair{mean, spent(on.device, Joules{half_width_of_mean(energies)}, Seconds{half_width_of_mean(times)})};
}

std::variant<DefaultParts, std::string> DefaultRuns::parts(const records::JobDevice& device,
                                                           const records::TryFinished& finished,
                                                           std::span<const records::LimitProfile> limits) const {
  if (finished.result.progress.time < shortest_run) {
    return fmt::format("a run of less than {:.0f} s is too short to compare", shortest_run.value());
  }
  const Watts highest = device.power_limits.back();
  const auto known = std::ranges::find(on_, device, &On::device);
  const auto start = known == on_.end() ? std::nullopt : this->start(*known);
  if (!start && known != on_.end() && known->default_energy.count > least_freedom) {
    const Scatter& energy = known->default_energy;
    const Scatter& time = known->default_time;
    const double hidden = hidden_deviation_of_run();
    return DefaultParts{.unit = unit_,
                        .start = spent(device, Joules{energy.mean}, Seconds{time.mean}),
                        .start_half_width = spent(device, Joules{half_width_of_mean(energy, hidden * energy.mean)},
                                                  Seconds{half_width_of_mean(time, hidden * time.mean)}),
                        .epoch = {},
                        .epoch_half_width = 0.0};
  }
  if (!start) {
    return "how long a run takes beside its epochs is not known yet: that takes two epochs under one limit, or one "
           "and steps that are counted";
  }
  const auto size = known->sizes.find(default_size_);
  const bool seen = size != known->sizes.end() && size->second.latest_epochs;
  const bool ran_highest = seen && size->second.latest_epochs->limit == highest;
  std::optional<Power> epoch;
  if (unit_ == Unit::second ? seen : ran_highest) {
    epoch = by_highest(*size->second.latest_epochs, device, limits);
  } else if (unit_ == Unit::epoch && covers(limits, device)) {
    epoch = Power{.time = shortest_epoch(limits), .power = limits.back().average_power};
  }
  if (!epoch) {
    return "what an epoch of the default takes under the highest limit is not known yet";
  }
  const Seconds one = unit_ == Unit::epoch ? epoch->time : Seconds{1};
  return DefaultParts{
      .unit = unit_,
      .start = start->first,
      .start_half_width = start->second,
      .epoch = spent(device, epoch->power * one, one),
      .epoch_half_width = seen ? half_width_of_epoch(*size->second.latest_epochs, unit_, *epoch, limits, highest)
                               : std::hypot(of_single_epoch, of_slices)};
}

// The scatter that equal counts of epochs may hide, relative to a run of the default.
double DefaultRuns::hidden_deviation_of_run() const {
  const auto of_default = lengths_.find(default_size_);
  return has_target_ && of_default != lengths_.end() ? hidden_deviation / of_default->second.mean : 0.0;
}

std::variant<EpochCount, std::string> DefaultRuns::epochs() const {
  const auto of_default = lengths_.find(default_size_);
  if (of_default == lengths_.end()) {
    return "how many epochs the default batch size takes is not known yet";
  }
  double squares = 0.0;
  int freedom = 0;
  for (const Scatter& size : lengths_ | std::views::values) {
    squares += size.squares / (size.mean * size.mean);
    freedom += size.count - 1;
  }
  if (freedom < least_freedom) {
    return fmt::format(
        "how much the number of epochs varies from run to run is not known yet: {} with a batch size that "
        "has run before",
        freedom + 1 < least_freedom ? "that takes two more runs" : "that takes one more run");
  }
  const Scatter& runs = of_default->second;
  const double deviation = std::max(std::sqrt(squares / freedom), hidden_deviation_of_run());
  // Numbers of epochs scatter by factors, so the true mean may be further above the mean of a few runs than below it.
  const double factor = portable::exp(student_quantile(freedom) * deviation / std::sqrt(runs.count));
  return EpochCount{.unit = unit_, .mean = runs.mean, .half_width = runs.mean * (factor - 1.0)};
}

std::optional<EpochCount> DefaultRuns::likely_epochs(int batch_size) const {
  if (const auto known = epochs(); const auto* const count = std::get_if<EpochCount>(&known)) {
    return *count;
  }
  auto runs = lengths_.find(default_size_);
  runs = runs != lengths_.end() ? runs : lengths_.find(batch_size);
  return runs != lengths_.end() ? std::optional{EpochCount{.unit = unit_, .mean = runs->second.mean}} : std::nullopt;
}

}  // namespace zeus::jobs
