#include "network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace small_network {
namespace {

// The loss of each image is differentiable almost everywhere; a step this small hardly ever crosses a point where it is
// not.
constexpr double nudge = 1e-6;

TEST(Network, ItsGradientIsThatOfItsLoss) {
  Network<double> network{11};
  const std::vector<Image> images = generate({.seed = 2, .noise = 0.2}, 24);
  Network<double>::Parameters gradient{};
  for (const Image& image : images) {
    network.add_gradient(image, gradient);
  }
  const auto total_loss = [&] {
    double sum = 0.0;
    for (const Image& image : images) {
      sum += network.loss(image);
    }
    return sum;
  };
  double largest = 0.0;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const double kept = network.parameters()[i];
    network.parameters()[i] = kept + nudge;
    const double above = total_loss();
    network.parameters()[i] = kept - nudge;
    const double below = total_loss();
    network.parameters()[i] = kept;
    const double numeric = (above - below) / (2.0 * nudge);
    EXPECT_NEAR(gradient[i], numeric, 1e-6 * std::max(1.0, std::fabs(numeric))) << "parameter " << i;
    largest = std::max(largest, std::fabs(numeric));
  }
  EXPECT_GT(largest, 1.0);
}

TEST(Network, GivesTheLossThatItsGradientIsOf) {
  const Network<double> network{4};
  const std::vector<Image> images = generate({.seed = 6}, 5);
  for (const Image& image : images) {
    Network<double>::Parameters gradient{};
    EXPECT_EQ(network.add_gradient(image, gradient), network.loss(image));
    EXPECT_GT(network.loss(image), 0.0);
  }
}

TEST(Network, AddsToTheGradientWhatEachImageAdds) {
  const Network<float> network{4};
  const std::vector<Image> images = generate({.seed = 6}, 2);
  Network<float>::Parameters once{};
  network.add_gradient(images[0], once);
  Network<float>::Parameters twice = once;
  network.add_gradient(images[0], twice);
  for (std::size_t i = 0; i < parameter_count; ++i) {
    EXPECT_NEAR(twice[i], 2.0F * once[i], 1e-5F);
  }
}

TEST(Network, KnowsNothingBeforeItLearned) {
  const Network<float> network{1};
  std::size_t right = 0;
  const std::vector<Image> images = generate({.seed = 1}, 2000);
  for (const Image& image : images) {
    right += network.classify(image) == image.shape ? 1U : 0U;
  }
  EXPECT_LT(static_cast<double>(right) / 2000.0, 0.35);
}

}  // namespace
}  // namespace small_network
