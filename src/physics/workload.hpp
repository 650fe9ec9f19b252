// A training job as a model: its batch sizes, the time and power of an epoch on each GPU under each control, and the
// random number of epochs until it reaches its target. The built-in workloads are the six of the NSDI'23 paper, so that
// simulations and demos need no trace file. Immutable after start-up; callable from any thread.
#pragma once

#include "base/random.hpp"
#include "physics/controls.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "physics/training_profile.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace zeus::physics {

// The number of epochs that a run needs, by the base-2 logarithm of its batch size: lognormal around a curve that is
// flat between two knees, straight below the lower knee and a parabola above the higher one; rounded to whole epochs,
// at least one. Beyond two edges, runs fail to reach the target at all.
struct EpochsModel {
  double log_epochs = 0.0;
  double low_knee = 0.0;
  double low_slope = 0.0;
  double high_knee = 0.0;
  double high_slope = 0.0;
  double high_bend = 0.0;
  double spread = 0.0;
  double fails_below = 0.0;
  double fails_above = 0.0;

  [[nodiscard]] double median(int batch_size) const;
  [[nodiscard]] double failure_probability(int batch_size) const;
};

class Workload {
 public:
  struct Definition {
    std::string_view name;  // the name that people type: "cifar100"
    std::string_view dataset;
    std::string_view network;
    std::string_view optimizer;
    double target_metric = 0.0;
    bool higher_is_better = true;
    int max_epochs = 0;
    int default_batch_size = 0;
    // The range of batch sizes in the training traces; beyond it, nothing is known about the epochs.
    int smallest_trained = 0;
    int largest_trained = 0;
    EpochsModel epochs;
  };

  explicit Workload(const Definition& definition) : definition_{definition} {}

  [[nodiscard]] std::string_view name() const { return definition_.name; }
  [[nodiscard]] const Definition& definition() const { return definition_; }

  // In ascending order; never empty.
  [[nodiscard]] std::vector<int> batch_sizes(const GpuModel& model) const;
  // The definition's, or the largest feasible one if that is not feasible.
  [[nodiscard]] int default_batch_size(const GpuModel& model) const;

  // If the batch size is not feasible there: an invalid_argument Error that lists those that are.
  [[nodiscard]] TrainingProfile profile(const GpuModel& model, int batch_size) const;
  [[nodiscard]] Demand demand(const GpuModel& model, int batch_size) const;
  // The time of an epoch and the mean power during it.
  [[nodiscard]] EpochObservation epoch(const GpuModel& model, const Controls& controls, int batch_size) const;
  [[nodiscard]] EpochObservation epoch(const GpuModel& model, Watts limit, int batch_size) const;

  // One run: the epoch in which it reaches the target, which may be beyond max_epochs; nothing if it never does.
  [[nodiscard]] std::optional<int> draw_epochs(int batch_size, Random& random) const;

 private:
  Definition definition_;
};

// librispeech, squad, sentiment140, imagenet, cifar100, movielens.
std::span<const Workload> workloads();
// By name, in any case; an unknown name is a not_found Error that lists them.
const Workload& workload(std::string_view name);

}  // namespace zeus::physics
