#include "training.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace small_network {

namespace {

// The squared length of a sum of `count` gradients, divided by their number.
double square_of_mean(const Network<float>::Parameters& sum, std::size_t count) {
  double square = 0.0;
  for (const float one : sum) {
    square += static_cast<double>(one) * static_cast<double>(one);
  }
  return square / (static_cast<double>(count) * static_cast<double>(count));
}

}  // namespace

double scaled_by_root(double rate, std::size_t reference, std::size_t batch_size) {
  return rate * std::sqrt(static_cast<double>(batch_size) / static_cast<double>(reference));
}

Training::Training(const Course& course, const Settings& settings)
    : course_{course},
      settings_{settings},
      network_{settings.seed},
      held_out_{generate({.seed = course.seed, .noise = course.noise}, course.held_out)} {
  course_.images_per_epoch = std::max<std::size_t>(course.images_per_epoch, 1);
  settings_.batch_size = std::clamp<std::size_t>(settings.batch_size, 1, course_.images_per_epoch);
}

std::size_t Training::steps_per_epoch() const {
  return (course_.images_per_epoch + settings_.batch_size - 1) / settings_.batch_size;
}

std::size_t Training::end_of_batch() {
  if (next_ == 0) {
    const std::uint64_t first = course_.held_out + epochs_ * course_.images_per_epoch;
    images_ =
        generate({.seed = course_.seed, .first = first, .noise = course_.noise, .mislabelled = course_.mislabelled},
                 course_.images_per_epoch);
    ++epochs_;
  }
  return std::min(next_ + settings_.batch_size, images_.size());
}

float Training::add_gradients(std::size_t from, std::size_t to, Network<float>::Parameters& gradient) const {
  float loss = 0.0F;
  for (std::size_t i = from; i < to; ++i) {
    loss += network_.add_gradient(images_[i], gradient);
  }
  return loss;
}

void Training::descend(const Network<float>::Parameters& gradient, std::size_t end) {
  const auto rate = static_cast<float>(settings_.learning_rate) * (1.0F / static_cast<float>(end - next_));
  const auto momentum = static_cast<float>(settings_.momentum);
  Network<float>::Parameters& parameters = network_.parameters();
  for (std::size_t i = 0; i < parameter_count; ++i) {
    velocity_[i] = momentum * velocity_[i] - rate * gradient[i];
    parameters[i] += velocity_[i];
  }
  next_ = end == images_.size() ? 0 : end;
}

double Training::step() {
  const std::size_t end = end_of_batch();
  const float share = 1.0F / static_cast<float>(end - next_);
  Network<float>::Parameters gradient{};
  const float loss = add_gradients(next_, end, gradient);
  descend(gradient, end);
  return static_cast<double>(loss * share);
}

void Training::epoch() {
  do {
    step();
  } while (next_ != 0);
}

std::vector<SharedStep> Training::shared_epoch(std::size_t devices) {
  std::vector<SharedStep> steps;
  do {
    const std::size_t end = end_of_batch();
    const std::size_t share = (end - next_) / devices;
    if (end - next_ < settings_.batch_size || share * devices < settings_.batch_size) {
      step();
      continue;
    }
    SharedStep shared;
    Network<float>::Parameters sum{};
    for (std::size_t device = 0; device < devices; ++device) {
      Network<float>::Parameters gradient{};
      add_gradients(next_ + device * share, next_ + (device + 1) * share, gradient);
      shared.mean_square += square_of_mean(gradient, share) / static_cast<double>(devices);
      std::ranges::transform(sum, gradient, sum.begin(), std::plus<>{});
    }
    shared.square_of_mean = square_of_mean(sum, settings_.batch_size);
    descend(sum, end);
    steps.push_back(shared);
  } while (next_ != 0);
  return steps;
}

void Training::change_batch(std::size_t batch_size, double learning_rate) {
  settings_.batch_size = std::clamp<std::size_t>(batch_size, 1, course_.images_per_epoch);
  settings_.learning_rate = learning_rate;
}

double Training::accuracy() const {
  std::size_t right = 0;
  for (const Image& image : held_out_) {
    right += network_.classify(image) == image.shape ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(held_out_.size(), 1));
}

}  // namespace small_network
