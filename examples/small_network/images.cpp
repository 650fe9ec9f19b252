#include "images.hpp"

#include "draws.hpp"

#include <cmath>

namespace small_network {

namespace {

// A shape is a function that says whether a point is on it; the point is relative to its middle, in units of its
// radius.
bool covers(std::size_t shape, double x, double y) {
  constexpr double thick = 0.34;  // half the width of a stroke
  const double far = x * x + y * y;
  const bool inside = std::fabs(x) <= 1.0 && std::fabs(y) <= 1.0;
  switch (shape) {
    case 0:
      return inside && std::fabs(y) <= thick;
    case 1:
      return inside && std::fabs(x) <= thick;
    case 2:
      return inside && std::fabs(x + y) <= 1.4 * thick;
    case 3:
      return inside && std::fabs(x - y) <= 1.4 * thick;
    case 4:
      return inside && (std::fabs(x) <= thick || std::fabs(y) <= thick);
    case 5:
      return inside && (std::fabs(x + y) <= 1.4 * thick || std::fabs(x - y) <= 1.4 * thick);
    case 6:
      return inside && (std::fabs(x) >= 1.0 - 1.2 * thick || std::fabs(y) >= 1.0 - 1.2 * thick);
    default:
      return far <= 1.2 && far >= 0.4;
  }
}

Image make(const ImageSource& source, std::uint64_t number) {
  Draws draws{source.seed, number};
  Image image;
  const std::uint64_t shown = draws.below(shape_count);
  const double radius = draws.uniform(2.4, 4.2);
  const double middle_x = draws.uniform(radius, static_cast<double>(image_side) - radius);
  const double middle_y = draws.uniform(radius, static_cast<double>(image_side) - radius);
  const double brightness = draws.uniform(0.7, 1.3);
  for (std::size_t row = 0; row < image_side; ++row) {
    for (std::size_t column = 0; column < image_side; ++column) {
      const double x = (static_cast<double>(column) + 0.5 - middle_x) / radius;
      const double y = (static_cast<double>(row) + 0.5 - middle_y) / radius;
      const double light = covers(shown, x, y) ? brightness : 0.0;
      image.pixels[row * image_side + column] =
          static_cast<float>(light) + static_cast<float>(source.noise) * draws.bell();
    }
  }
  const bool wrong = draws.uniform() < source.mislabelled;
  const std::uint64_t other = draws.below(shape_count - 1);
  image.shape = static_cast<std::uint8_t>(wrong ? (shown + 1 + other) % shape_count : shown);
  return image;
}

}  // namespace

std::vector<Image> generate(const ImageSource& source, std::size_t count) {
  std::vector<Image> images;
  images.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    images.push_back(make(source, source.first + i));
  }
  return images;
}

}  // namespace small_network
