// What a training on several GPUs may choose its batch size by while it runs (Pollux, in section 6.6 of the paper): how
// many samples it processes a second, how much each of them teaches at that batch size, and their product, the goodput.
// Pure functions on plain values; any thread.
#pragma once

#include <zeus/units.hpp>

#include <span>

namespace zeus::research {

// Of the gradient at one point: the squared length of the true one, and the variance (the trace of the covariance) of
// that of a batch of the reference size.
struct GradientStatistics {
  double square = 0.0;
  double variance = 0.0;
};

// Unbiased estimates from one step of `devices` of them, 2 or more, each with an equal share of the batch: from the
// mean of the squared lengths of their gradients, and the squared length of the mean of these. `scale` is the batch
// size over the reference. A single step may give negative ones.
GradientStatistics statistics_of_step(double mean_square, double square_of_mean, int devices, double scale);

// The statistics of the last steps: their mean, in which the weight of a step falls by a factor of e with each `memory`
// batches of the reference size that follow it.
class GradientNoise {
 public:
  explicit GradientNoise(double memory) : memory_{memory} {}

  void add(const GradientStatistics& step, double scale);
  // Neither is below zero. Both are 0 before the first step.
  [[nodiscard]] GradientStatistics statistics() const;

 private:
  double memory_;
  GradientStatistics sum_;
  double weight_ = 0.0;
};

// The batch size, in samples, at which noise and true gradient are equally strong. Infinite if there is no gradient.
double noise_scale(const GradientStatistics& statistics, double reference);

// The progress that a sample makes in batches of this size, relative to one in batches of the reference size.
double efficiency(const GradientStatistics& statistics, double reference, double batch_size);

// The time of a step: the devices compute, then exchange their gradients, and the two overlap in part.
struct StepModel {
  Seconds compute;              // of a batch without samples
  Seconds compute_per_sample;   // of each of a device's own samples
  Seconds exchange;             // between two devices
  Seconds exchange_per_device;  // for each further one
  double overlap = 1.0;         // 1: one after the other; the higher, the more of the shorter part is hidden
};

// `per_device` is each device's share of the batch.
Seconds step_time(const StepModel& model, int devices, double per_device);
// Samples per second.
double throughput(const StepModel& model, int devices, double per_device);
double goodput(const StepModel& model, const GradientStatistics& statistics, double reference, int devices,
               double per_device);

struct StepObservation {
  int devices = 0;
  double per_device = 0.0;
  Seconds compute;
  Seconds step;
};

// The model of the least error of the logarithms of both times, with a small price on overlap and on further devices'
// exchange, which have to show themselves. What no observation shows is fixed: with one share only, half of the
// computation does not depend on it; without further devices, or any but one, these exchange in no time. There is an
// observation, and all times are above 0.
StepModel fit_step_model(std::span<const StepObservation> observations);

// The share of the most goodput, from `least` to `most`, whose batch is no smaller than the reference; `most` if none
// is as large.
int best_share(const StepModel& model, const GradientStatistics& statistics, double reference, int devices, int least,
               int most);

}  // namespace zeus::research
