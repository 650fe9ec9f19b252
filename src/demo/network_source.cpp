#include "demo/network_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::demo {

namespace {

constexpr double learning_rate = 0.05;  // for this batch size; proportional to the square root
constexpr std::size_t reference_batch_size = 64;
// The relative standard deviation of the time of a step.
constexpr double scatter_of_steps = 0.01;
// How often progress is seen by what measures closely.
constexpr Seconds close_look{0.25};

small_network::Settings settings_for(int batch_size, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(batch_size);
  return {.batch_size = size,
          .learning_rate = small_network::scaled_by_root(learning_rate, reference_batch_size, size),
          .seed = seed};
}

}  // namespace

NetworkSource::NetworkSource(const StageGpu& gpu, const physics::GpuModel& model, Clock& clock,
                             const small_network::Course& course, std::function<bool()> closely)
    : gpu_{gpu}, model_{model}, clock_{clock}, course_{course}, closely_{std::move(closely)} {
}

NetworkSource::~NetworkSource() {
  stop();
}

void NetworkSource::start(int batch_size, std::uint64_t seed) {
  training_.emplace(course_, settings_for(batch_size, seed));
  work_ = epoch_work(model_, batch_size);
  scatter_.emplace(seed, course_.seed);
  seed_ = seed;
  steps_ = 0;
  real_steps_ = 0;
  in_epoch_ = false;
  exit_code_.reset();
  gpu_.load(physics::Load::constant(work_.demand));
}

void NetworkSource::stop() {
  exit_code_ = 0;
  gpu_.load(physics::Load::constant(physics::Demand::none()));
}

void NetworkSource::work(std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  const double scattered = 1.0 + scatter_of_steps / std::sqrt(count) * scatter_->normal();
  clock_.sleep_until(clock_.now() + work_.step / gpu_.operating_point().speed * (count * scattered));
  steps_ += steps;
}

std::vector<trial::Progress> NetworkSource::go_on() {
  if (!std::exchange(in_epoch_, true)) {
    return {trial::StepsDone{.count = 0}};
  }
  // A step of the network is due when its share of the GPU's steps is over.
  const std::uint64_t due = (real_steps_ + 1) * work_.steps / training_->steps_per_epoch();
  std::uint64_t steps = due - steps_;
  if (closely_()) {
    steps = std::min(steps, static_cast<std::uint64_t>(std::max(1.0, close_look / work_.step)));
  }
  if (steps > 0) {
    work(steps);
  }
  std::vector<trial::Progress> seen{trial::StepsDone{.count = steps}};
  if (steps_ == due) {
    training_->step();
    ++real_steps_;
  }
  if (real_steps_ == training_->steps_per_epoch()) {
    steps_ = 0;
    real_steps_ = 0;
    in_epoch_ = false;
    seen.emplace_back(trial::MetricSeen{.value = training_->accuracy()});
    seen.emplace_back(trial::EpochsDone{});
  }
  return seen;
}

}  // namespace zeus::demo
