#include "research/shared_training.hpp"

#include "examples/small_network/training.hpp"
#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "records/limit_profile.hpp"
#include "research/goodput.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace zeus::research {

namespace {

// The network's task, fixed before the first comparison.
constexpr double shared_target = 0.85;
constexpr std::size_t images_per_epoch = 4096;
constexpr std::size_t held_out_images = 2048;
constexpr double image_noise = 0.3;
constexpr double wrong_labels = 0.1;
constexpr double reference_rate = 0.05;
constexpr std::size_t batch_of_reference_rate = 64;
// What it stands for: the samples of the speech in 960 hours, and the gradient of its network.
constexpr double samples_per_epoch = 281'241.0;
constexpr double gradient_bytes = 350e6;
constexpr double better_by = 1.05;

const physics::GpuModel& a40() {
  return physics::preset("A40");
}

const physics::Workload& speech() {
  return physics::workload("librispeech");
}

small_network::Settings settings_of(std::size_t batch_size, std::uint64_t seed) {
  return {.batch_size = batch_size,
          .learning_rate = small_network::scaled_by_root(reference_rate, batch_of_reference_rate, batch_size),
          .seed = seed};
}

small_network::Training start_training(std::size_t batch_size, std::uint64_t seed) {
  return {{.seed = seed,
           .images_per_epoch = images_per_epoch,
           .held_out = held_out_images,
           .noise = image_noise,
           .mislabelled = wrong_labels},
          settings_of(batch_size, seed)};
}

// One GPU's step with a batch size of the model.
struct OwnStep {
  Seconds time;
  Joules energy;
};

OwnStep own_step(int batch_size, Watts limit) {
  const physics::EpochObservation epoch = speech().epoch(a40(), limit, batch_size);
  const Seconds time = epoch.time * (batch_size / samples_per_epoch);
  return {.time = time, .energy = epoch.power * time};
}

}  // namespace

SharedStepCost SharedGpus::step(int share, Watts limit) const {
  const std::vector<int> sizes = speech().batch_sizes(a40());
  const auto above = std::ranges::lower_bound(sizes, std::min(share, sizes.back()));
  OwnStep own = own_step(*above, limit);
  if (*above != share && above != sizes.begin()) {
    const OwnStep below = own_step(*(above - 1), limit);
    const double part = static_cast<double>(share - *(above - 1)) / (*above - *(above - 1));
    own = {.time = below.time + part * (own.time - below.time),
           .energy = below.energy + part * (own.energy - below.energy)};
  }
  // Each GPU sends and receives this much of the gradient in a ring, and only waits meanwhile.
  constexpr double sent = 2.0 * (shared_gpus - 1) / shared_gpus * gradient_bytes;
  const Seconds exchange{sent / interconnect_.bytes_per_second};
  return {.compute = own.time,
          .whole = own.time + exchange,
          .energy = shared_gpus * (own.energy + a40().power.waiting * exchange)};
}

simulate::Workload SharedGpus::workload(const std::vector<std::vector<std::optional<int>>>& runs) const {
  constexpr Watts step_of_limits{25};
  simulate::Workload job{.name = "small network as DeepSpeech2 on four A40",
                         .arms = {},
                         .max_epochs = shared_most_epochs,
                         .default_batch_size = shared_default,
                         .max_limit = a40().limits.max,
                         .max_power = shared_gpus * a40().limits.max};
  for (std::size_t i = 0; i < shared_batch_sizes.size(); ++i) {
    simulate::WorkloadArm arm{.batch_size = shared_batch_sizes[i], .limits = {}, .runs = runs[i]};
    std::ranges::sort(arm.runs, {}, [](const std::optional<int>& run) { return run.value_or(shared_most_epochs + 1); });
    for (Watts limit = a40().limits.min; limit <= a40().limits.max; limit += step_of_limits) {
      const SharedStepCost one = step(arm.batch_size / shared_gpus, limit);
      arm.limits.push_back({.limit = limit,
                            .epoch_time = one.whole * (samples_per_epoch / arm.batch_size),
                            .average_power = one.energy / one.whole});
    }
    job.arms.push_back(std::move(arm));
  }
  return job;
}

std::optional<int> epochs_with(int batch_size, std::uint64_t seed) {
  small_network::Training training = start_training(static_cast<std::size_t>(batch_size), seed);
  for (int epoch = 1; epoch <= shared_most_epochs; ++epoch) {
    training.epoch();
    if (training.accuracy() >= shared_target) {
      return epoch;
    }
  }
  return std::nullopt;
}

TrainingByGoodput train_by_goodput(const SharedGpus& gpus, std::uint64_t seed) {
  const std::vector<int> shares = speech().batch_sizes(a40());
  // An epoch: its gradients are those of a network that changes while they are averaged.
  GradientNoise noise{images_per_epoch / double{shared_reference}};
  std::vector<StepObservation> seen;
  TrainingByGoodput result;
  StepModel model;
  int batch_size = shared_reference;
  small_network::Training training = start_training(shared_reference, seed);
  while (!result.reached && result.batch_sizes.size() < shared_most_epochs) {
    const int share = batch_size / shared_gpus;
    const SharedStepCost cost = gpus.step(share, a40().limits.max);
    const double scale = static_cast<double>(batch_size) / shared_reference;
    for (const small_network::SharedStep& step : training.shared_epoch(shared_gpus)) {
      noise.add(statistics_of_step(step.mean_square, step.square_of_mean, shared_gpus, scale), scale);
    }
    result.batch_sizes.push_back(batch_size);
    result.time += cost.whole * (samples_per_epoch / batch_size);
    result.energy += cost.energy * (samples_per_epoch / batch_size);
    result.reached = training.accuracy() >= shared_target;
    if (std::ranges::find(seen, share, &StepObservation::per_device) == seen.end()) {
      seen.push_back({.devices = shared_gpus, .per_device = 1.0 * share, .compute = cost.compute, .step = cost.whole});
      model = fit_step_model(seen);
    }
    const auto goodput_of = [&](int one) {
      return goodput(model, noise.statistics(), shared_reference, shared_gpus, one);
    };
    const int best =
        best_share(model, noise.statistics(), shared_reference, shared_gpus, shares.front(), shares.back());
    if (goodput_of(best) > better_by * goodput_of(share)) {
      batch_size = shared_gpus * best;
      const auto size = static_cast<std::size_t>(batch_size);
      training.change_batch(size, settings_of(size, seed).learning_rate);
    }
  }
  result.noise_scale = noise_scale(noise.statistics(), shared_reference);
  return result;
}

}  // namespace zeus::research
