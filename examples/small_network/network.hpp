// A small convolutional network, written out: eight 3x3 filters over the image, the maximum of each 2x2 patch, negative
// values set to zero, and one linear layer to the scores of the shapes. It learns from the gradient of the
// cross-entropy. `Real` is float for training, and double where gradients are checked. Sums have a fixed order, so a
// run is the same with every compiler. A value; one thread at a time.
#pragma once

#include "images.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace small_network {

inline constexpr std::size_t filter_side = 3;
inline constexpr std::size_t filter_count = 8;
inline constexpr std::size_t pooled_side = (image_side - filter_side + 1) / 2;
inline constexpr std::size_t feature_count = pooled_side * pooled_side * filter_count;

// The layout of all parameters in one array: filters by pixel, then their biases, then the weights by feature, then the
// biases of the scores. The innermost index is that of the filter or the shape.
inline constexpr std::size_t filter_bias_at = filter_side * filter_side * filter_count;
inline constexpr std::size_t weights_at = filter_bias_at + filter_count;
inline constexpr std::size_t score_bias_at = weights_at + feature_count * shape_count;
inline constexpr std::size_t parameter_count = score_bias_at + shape_count;

template <typename Real>
class Network {
 public:
  using Parameters = std::array<Real, parameter_count>;

  // Starts from small random weights.
  explicit Network(std::uint64_t seed);

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }

  // The shape with the highest score.
  [[nodiscard]] std::size_t classify(const Image& image) const;
  // The cross-entropy of the image's label.
  [[nodiscard]] Real loss(const Image& image) const;
  // The same, and adds its gradient to `gradient`.
  Real add_gradient(const Image& image, Parameters& gradient) const;

 private:
  struct Activity;  // of one image, from the filters to the probabilities of the shapes
  [[nodiscard]] Activity run(const Image& image) const;

  Parameters parameters_{};
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace small_network
