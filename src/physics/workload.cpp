#include "physics/workload.hpp"

#include "base/portable_math.hpp"
#include "physics/fitted.hpp"
#include "physics/kernel_curve.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace zeus::physics {

namespace {

// The GPU model whose traces stand in for a model without any, and how much faster the same kernels are on it. Assumed:
// the ratios are typical of training benchmarks of these generations; the host stays the same.
struct Relative {
  std::span<const FittedProfile> table;
  double kernel_speed = 1.0;
};

Relative relative_to_traced(const GpuModel& model) {
  switch (model.architecture) {
    case Architecture::pascal:
      return {v100_profiles(), 0.55};
    case Architecture::volta:
      return {v100_profiles(), 1.0};
    case Architecture::turing:
      return {a40_profiles(), 0.8};
    case Architecture::ampere:
      return {a40_profiles(), 1.0};
    case Architecture::ga100:
      return {v100_profiles(), 2.0};
    case Architecture::hopper:
      return {v100_profiles(), model.memory_bytes > (std::uint64_t{100} << 30) ? 4.2 : 3.7};
  }
  return {v100_profiles(), 1.0};
}

// The same step with kernels that are `speed` times as fast, and with the same host.
TrainingProfile with_faster_kernels(const TrainingProfile& profile, double speed, double overlap) {
  const double host =
      profile.busy < 1.0 ? portable::pow(1.0 - portable::pow(profile.busy, overlap), 1.0 / overlap) : 0.0;
  const double kernels = profile.busy / speed;
  const double step = step_time(kernels, host, overlap);
  return {.epoch = profile.epoch * step, .busy = kernels / step, .activity = profile.activity};
}

// True if this row is one of the workload's feasible batch sizes.
bool belongs_to(const FittedProfile& row, const Workload::Definition& definition) {
  return row.batch_size >= definition.smallest_trained && row.batch_size <= definition.largest_trained &&
         row.workload == fmt::format("{}/{}/{}", definition.dataset, definition.network, definition.optimizer);
}

}  // namespace

double EpochsModel::median(int batch_size) const {
  const double octave = portable::log2(batch_size);
  const double below = std::max(0.0, low_knee - octave);
  const double above = std::max(0.0, octave - high_knee);
  return portable::exp(log_epochs + low_slope * below + high_slope * above + high_bend * above * above);
}

double EpochsModel::failure_probability(int batch_size) const {
  constexpr double width = 0.15;  // octaves over which runs begin to fail, as in tools/fit_epochs.py
  const auto logistic = [](double z) { return 1.0 / (1.0 + portable::exp(-std::clamp(z / width, -60.0, 60.0))); };
  const double octave = portable::log2(batch_size);
  return 1.0 - (1.0 - logistic(fails_below - octave)) * (1.0 - logistic(octave - fails_above));
}

std::vector<int> Workload::batch_sizes(const GpuModel& model) const {
  std::vector<int> sizes;
  for (const FittedProfile& row : relative_to_traced(model).table) {
    if (belongs_to(row, definition_)) {
      sizes.push_back(row.batch_size);
    }
  }
  return sizes;
}

int Workload::default_batch_size(const GpuModel& model) const {
  const std::vector<int> sizes = batch_sizes(model);
  return std::ranges::find(sizes, definition_.default_batch_size) != sizes.end() ? definition_.default_batch_size
                                                                                 : sizes.back();
}

TrainingProfile Workload::profile(const GpuModel& model, int batch_size) const {
  const Relative relative = relative_to_traced(model);
  for (const FittedProfile& row : relative.table) {
    if (row.batch_size == batch_size && belongs_to(row, definition_)) {
      return relative.kernel_speed == 1.0
                 ? row.profile
                 : with_faster_kernels(row.profile, relative.kernel_speed, model.power.overlap);
    }
  }
  throw Error{ErrorKind::invalid_argument,
              fmt::format("{} cannot be trained with batch size {} on {}", name(), batch_size, model.name()),
              fmt::format("choose one of {}", fmt::join(batch_sizes(model), ", "))};
}

Demand Workload::demand(const GpuModel& model, int batch_size) const {
  return demand_of(model, profile(model, batch_size));
}

EpochObservation Workload::epoch(const GpuModel& model, const Controls& controls, int batch_size) const {
  return predict(model, controls, profile(model, batch_size));
}

EpochObservation Workload::epoch(const GpuModel& model, Watts limit, int batch_size) const {
  return predict(model, limit, profile(model, batch_size));
}

std::optional<int> Workload::draw_epochs(int batch_size, Random& random) const {
  // Both draws are always made, so that a run's luck is the same for every batch size.
  const double failure = random.uniform();
  const double luck = random.normal();
  if (failure < definition_.epochs.failure_probability(batch_size)) {
    return std::nullopt;
  }
  const double epochs = definition_.epochs.median(batch_size) * portable::exp(definition_.epochs.spread * luck);
  return std::max(1, static_cast<int>(std::floor(epochs + 0.5)));
}

}  // namespace zeus::physics
