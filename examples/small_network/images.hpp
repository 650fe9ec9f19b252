// Generated images to learn from: one of eight simple shapes, somewhere in the image, of some size and brightness,
// under noise. Nothing is read from a file. Pure functions of the seed; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace small_network {

inline constexpr std::size_t image_side = 12;
inline constexpr std::size_t image_pixels = image_side * image_side;
inline constexpr std::size_t shape_count = 8;

inline constexpr std::array<std::string_view, shape_count> shape_names{
    "lying bar", "standing bar", "slash", "backslash", "plus", "cross", "square", "ring"};

struct Image {
  std::array<float, image_pixels> pixels{};  // about 0 outside of the shape, about 1 on it
  std::uint8_t shape = 0;                    // the shape: an index into shape_names
};

// How the images are made. A `first` other than 0 continues where another set with the same seed ended: two sets whose
// numbers do not overlap have no image in common.
struct ImageSource {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  double noise = 0.5;        // standard deviation of the noise added to each pixel
  double mislabelled = 0.0;  // share of the images with a wrong label
};

// Images number `first` to `first + count - 1` of the source.
std::vector<Image> generate(const ImageSource& source, std::size_t count);

}  // namespace small_network
