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
  // The share of held-out images that are recognized. Does not change the run.
  [[nodiscard]] double accuracy() const;
  [[nodiscard]] const Network<float>& network() const { return network_; }

 private:
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
