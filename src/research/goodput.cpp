#include "research/goodput.hpp"

#include "base/portable_math.hpp"

#include <algorithm>
#include <limits>

namespace zeus::research {

GradientStatistics statistics_of_step(double mean_square, double square_of_mean, int devices, double scale) {
  const auto count = static_cast<double>(devices);
  return {.square = (count * square_of_mean - mean_square) / (count - 1.0),
          .variance = (mean_square - square_of_mean) * scale / (count - 1.0)};
}

void GradientNoise::add(const GradientStatistics& step, double scale) {
  const double kept = portable::exp(-scale / memory_);
  sum_.square = kept * sum_.square + (1.0 - kept) * step.square;
  sum_.variance = kept * sum_.variance + (1.0 - kept) * step.variance;
  weight_ = kept * weight_ + (1.0 - kept);
}

GradientStatistics GradientNoise::statistics() const {
  if (weight_ == 0.0) {
    return {};
  }
  return {.square = std::max(sum_.square / weight_, 0.0), .variance = std::max(sum_.variance / weight_, 0.0)};
}

double noise_scale(const GradientStatistics& statistics, double reference) {
  return statistics.square > 0.0 ? reference * statistics.variance / statistics.square
                                 : std::numeric_limits<double>::infinity();
}

double efficiency(const GradientStatistics& statistics, double reference, double batch_size) {
  const double scale = batch_size / reference;
  const double noise = statistics.variance / scale + statistics.square;
  return noise > 0.0 ? (statistics.variance + statistics.square) / noise / scale : 1.0 / scale;
}

Seconds step_time(const StepModel& model, int devices, double per_device) {
  const Seconds compute = model.compute + per_device * model.compute_per_sample;
  if (devices < 2) {
    return compute;
  }
  const Seconds exchange = model.exchange + (devices - 2) * model.exchange_per_device;
  const Seconds longer = std::max(compute, exchange);
  const Seconds shorter = std::min(compute, exchange);
  if (!(shorter > Seconds{})) {
    return longer;
  }
  return longer * portable::pow(1.0 + portable::pow(shorter / longer, model.overlap), 1.0 / model.overlap);
}

double throughput(const StepModel& model, int devices, double per_device) {
  return devices * per_device / step_time(model, devices, per_device).value();
}

double goodput(const StepModel& model, const GradientStatistics& statistics, double reference, int devices,
               double per_device) {
  return throughput(model, devices, per_device) * efficiency(statistics, reference, devices * per_device);
}

int best_share(const StepModel& model, const GradientStatistics& statistics, double reference, int devices, int least,
               int most) {
  int best = most;
  double highest = 0.0;
  for (int share = least; share <= most; ++share) {
    const double here = goodput(model, statistics, reference, devices, share);
    if (devices * share >= reference && here > highest) {
      best = share;
      highest = here;
    }
  }
  return best;
}

}  // namespace zeus::research
