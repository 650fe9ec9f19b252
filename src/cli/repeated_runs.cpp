#include "cli/repeated_runs.hpp"

#include "base/amount_text.hpp"
#include "base/student_quantile.hpp"
#include "jobs/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace zeus::cli {

namespace {

using Energies = std::map<int, MeasuredEnergy>;

// Half the width of the 95 % interval of the mean, from the scatter of the values.
double half_width(const jobs::Scatter& values) {
  return student_quantile(values.count - 1) * values.deviation().value_or(0.0) / std::sqrt(values.count);
}

MeasuredEnergy mean_of(std::span<const MeasuredEnergy> runs) {
  jobs::Scatter joules;
  double measuring = 0.0;  // in squares
  Joules least;
  Joules most;
  Energy mean;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (!runs[run].energy) {
      return {.energy = {}, .reason = fmt::format("run {}: {}", run + 1, runs[run].reason), .remark = {}};
    }
    const Energy& energy = *runs[run].energy;
    joules.add(energy.value.value());
    measuring += energy.uncertainty.value() * energy.uncertainty.value();
    least = run == 0 ? energy.value : std::min(least, energy.value);
    most = run == 0 ? energy.value : std::max(most, energy.value);
    // Repetition does not reduce the error of calibration.
    const bool bounded = energy.systematic && (run == 0 || mean.systematic);
    mean.systematic =
        bounded ? std::optional{std::max(mean.systematic.value_or(Joules{0}), *energy.systematic)} : std::nullopt;
    mean.method = std::max(mean.method, energy.method);
  }
  mean.value = Joules{joules.mean};
  mean.uncertainty = Joules{std::max(half_width(joules), std::sqrt(measuring) / joules.count)};
  const double certain = mean.uncertainty.value();
  return {.energy = mean,
          .reason = {},
          .remark = fmt::format("from {} to {} J", certain_digits(least.value(), certain),
                                certain_digits(most.value(), certain))};
}

Energies means_of(std::span<const Measurement> runs, Energies Measurement::*member) {
  Energies means;
  for (const auto& [device, measured] : runs.front().*member) {
    std::vector<MeasuredEnergy> of_device;
    for (const Measurement& run : runs) {
      of_device.push_back((run.*member).at(device));
    }
    means[device] = mean_of(of_device);
  }
  return means;
}

}  // namespace

RepeatedRuns repeated(std::span<const Measurement> runs) {
  jobs::Scatter seconds;
  std::vector<MeasuredEnergy> totals;
  for (const Measurement& run : runs) {
    seconds.add(run.time().value());
    totals.push_back(run.total_gpu_energy());
  }
  Measurement mean;
  mean.end = Seconds{seconds.mean};
  mean.gpu_energy = means_of(runs, &Measurement::gpu_energy);
  mean.cpu_energy = means_of(runs, &Measurement::cpu_energy);
  mean.dram_energy = means_of(runs, &Measurement::dram_energy);
  return {.mean = mean,
          .total_gpu_energy = mean_of(totals),
          .time_uncertainty = Seconds{half_width(seconds)},
          .count = runs.size()};
}

}  // namespace zeus::cli
