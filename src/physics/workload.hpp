// A training job as a model: which batch sizes it can have, how long an epoch takes and what it draws on each GPU under
// each control, and how many epochs it needs to reach its target, which is random. The built-in ones are the six of the
// NSDI'23 paper, so that simulations and demos need no trace file. Immutable after start-up; callable from any thread.
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

// How many epochs a run needs, by the logarithm to base 2 of its batch size: lognormal around a curve that is flat
// between two knees, straight below the lower and a parabola above the higher one; rounded to whole epochs, at least
// one. Beyond two edges runs fail to reach the target at all.
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
    std::string_view name;  // "cifar100": what a person types
    std::string_view dataset;
    std::string_view network;
    std::string_view optimizer;
    double target_metric = 0.0;
    bool higher_is_better = true;
    int max_epochs = 0;
    int default_batch_size = 0;
    // Between which batch sizes the training traces lie: beyond them nothing is known of the epochs.
    int smallest_trained = 0;
    int largest_trained = 0;
    EpochsModel epochs;
  };

  explicit Workload(const Definition& definition) : definition_{definition} {}

  [[nodiscard]] std::string_view name() const { return definition_.name; }
  [[nodiscard]] const Definition& definition() const { return definition_; }

  // In ascending order; never empty.
  [[nodiscard]] std::vector<int> batch_sizes(const GpuModel& model) const;
  // The definition's, or the largest feasible one where that is not feasible.
  [[nodiscard]] int default_batch_size(const GpuModel& model) const;

  // Of a batch size that is not feasible there: an invalid_argument Error that lists those that are.
  [[nodiscard]] TrainingProfile profile(const GpuModel& model, int batch_size) const;
  [[nodiscard]] Demand demand(const GpuModel& model, int batch_size) const;
  // The time of an epoch and the mean power during it.
  [[nodiscard]] EpochObservation epoch(const GpuModel& model, const Controls& controls, int batch_size) const;
  [[nodiscard]] EpochObservation epoch(const GpuModel& model, Watts limit, int batch_size) const;

  // One run: in which epoch it reaches the target, which may lie beyond max_epochs; nothing when it never does.
  [[nodiscard]] std::optional<int> draw_epochs(int batch_size, Random& random) const;

 private:
  Definition definition_;
};

// librispeech, squad, sentiment140, imagenet, cifar100, movielens.
std::span<const Workload> workloads();
// By name, whatever its case; an unknown one is a not_found Error that lists them.
const Workload& workload(std::string_view name);

}  // namespace zeus::physics
