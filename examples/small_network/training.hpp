// Training the small network to recognize generated shapes, by stochastic gradient descent with momentum. Every epoch
// has the same number of new images, so the network learns the task and not the images. The number of epochs for a
// given accuracy is not prescribed: it follows from the noise of small batches and the few steps of large ones. The
// same seeds give the same run, bit for bit. One thread at a time.
#pragma once

#include "images.hpp"
#include "network.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace small_network {

struct Course {
  std::uint64_t seed = 0;
  std::size_t images_per_epoch = 4096;
  std::size_t held_out = 2048;  // held-out images, never used for learning
  double noise = 0.25;
  double mislabelled = 0.0;  // share of the training images; the labels of held-out images are all right
};

struct Settings {
  std::size_t batch_size = 64;
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::uint64_t seed = 0;  // of the initial weights
};

// The gradients of a step of several devices, each of which has an equal share of the batch.
struct SharedStep {
  double mean_square = 0.0;     // the mean of the squared lengths of the devices' gradients
  double square_of_mean = 0.0;  // the squared length of their mean, the gradient of the batch
};

// The learning rate for a batch size when it is `rate` for `reference`: it grows with the square root of the batch.
double scaled_by_root(double rate, std::size_t reference, std::size_t batch_size);

class Training {
 public:
  // A batch size of 0, or above the number of images of an epoch, is replaced by the nearest possible one.
  Training(const Course& course, const Settings& settings);

  [[nodiscard]] std::size_t steps_per_epoch() const;
  // One step on the next mini-batch; every steps_per_epoch() of them are an epoch. Returns the mean loss before it.
  double step();
  void epoch();
  // An epoch of so many devices (1 or more), which differs from one of a single device by rounding alone: its steps,
  // without the last one if the batch that is left for it is smaller.
  std::vector<SharedStep> shared_epoch(std::size_t devices);
  // Between epochs: from the next one on.
  void change_batch(std::size_t batch_size, double learning_rate);
  // The share of held-out images that are recognized. Does not change the run.
  [[nodiscard]] double accuracy() const;
  [[nodiscard]] const Network<float>& network() const { return network_; }

 private:
  // The end of the mini-batch that begins at `next_`, drawing the epoch's images before its first one.
  std::size_t end_of_batch();
  // Of images of the epoch; returns the sum of their losses.
  float add_gradients(std::size_t from, std::size_t to, Network<float>::Parameters& gradient) const;
  // With the sum of the gradients of the images up to `end`.
  void descend(const Network<float>::Parameters& gradient, std::size_t end);

  Course course_;
  Settings settings_;
  Network<float> network_;
  Network<float>::Parameters velocity_{};
  std::vector<Image> held_out_;
  std::vector<Image> images_;  // of the epoch under way
  std::size_t next_ = 0;
  std::uint64_t epochs_ = 0;
};

}  // namespace small_network
