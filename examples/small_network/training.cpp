#include "training.hpp"

#include <algorithm>
#include <cmath>

namespace small_network {

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

double Training::step() {
  if (next_ == 0) {
    const std::uint64_t first = course_.held_out + epochs_ * course_.images_per_epoch;
    images_ =
        generate({.seed = course_.seed, .first = first, .noise = course_.noise, .mislabelled = course_.mislabelled},
                 course_.images_per_epoch);
    ++epochs_;
  }
  const std::size_t end = std::min(next_ + settings_.batch_size, images_.size());
  Network<float>::Parameters gradient{};
  float loss = 0.0F;
  for (std::size_t i = next_; i < end; ++i) {
    loss += network_.add_gradient(images_[i], gradient);
  }
  const float share = 1.0F / static_cast<float>(end - next_);
  const auto rate = static_cast<float>(settings_.learning_rate) * share;
  const auto momentum = static_cast<float>(settings_.momentum);
  Network<float>::Parameters& parameters = network_.parameters();
  for (std::size_t i = 0; i < parameter_count; ++i) {
    velocity_[i] = momentum * velocity_[i] - rate * gradient[i];
    parameters[i] += velocity_[i];
  }
  next_ = end == images_.size() ? 0 : end;
  return static_cast<double>(loss * share);
}

void Training::epoch() {
  do {
    step();
  } while (next_ != 0);
}

double Training::accuracy() const {
  std::size_t right = 0;
  for (const Image& image : held_out_) {
    right += network_.classify(image) == image.shape ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(held_out_.size(), 1));
}

}  // namespace small_network
