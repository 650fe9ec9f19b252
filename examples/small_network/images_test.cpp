#include "images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace small_network {
namespace {

TEST(Images, AreTheSameForTheSameSeedAndNumber) {
  const std::vector<Image> whole = generate({.seed = 7}, 40);
  const std::vector<Image> rest = generate({.seed = 7, .first = 25}, 15);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(whole[25 + i].pixels, rest[i].pixels);
    EXPECT_EQ(whole[25 + i].shape, rest[i].shape);
  }
  EXPECT_NE(generate({.seed = 8}, 1)[0].pixels, whole[0].pixels);
}

TEST(Images, ShowEveryShapeAboutAsOften) {
  std::vector<int> seen(shape_count, 0);
  for (const Image& image : generate({.seed = 1}, 8000)) {
    ++seen.at(image.shape);
  }
  EXPECT_GT(std::ranges::min(seen), 900);
  EXPECT_LT(std::ranges::max(seen), 1100);
}

TEST(Images, DifferBetweenShapesOnceTheNoiseIsGone) {
  for (const Image& image : generate({.seed = 3, .noise = 0.0}, 200)) {
    const auto lit = std::ranges::count_if(image.pixels, [](float light) { return light > 0.5F; });
    EXPECT_GE(lit, 5) << shape_names.at(image.shape);
    EXPECT_LE(lit, 80) << shape_names.at(image.shape);
  }
}

TEST(Images, AreAsNoisyAsAsked) {
  const std::vector<Image> clean = generate({.seed = 5, .noise = 0.0}, 300);
  const std::vector<Image> noisy = generate({.seed = 5, .noise = 0.4}, 300);
  double squares = 0.0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    ASSERT_EQ(clean[i].shape, noisy[i].shape);
    for (std::size_t pixel = 0; pixel < image_pixels; ++pixel) {
      const double off = static_cast<double>(noisy[i].pixels[pixel]) - static_cast<double>(clean[i].pixels[pixel]);
      squares += off * off;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(clean.size() * image_pixels)), 0.4, 0.01);
}

TEST(Images, AreMislabelledAsOftenAsAskedAndAreOtherwiseTheSame) {
  const std::vector<Image> right = generate({.seed = 9}, 4000);
  const std::vector<Image> wrong = generate({.seed = 9, .mislabelled = 0.3}, 4000);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_EQ(right[i].pixels, wrong[i].pixels);
    differing += right[i].shape != wrong[i].shape ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(differing) / 4000.0, 0.3, 0.03);
}

}  // namespace
}  // namespace small_network
