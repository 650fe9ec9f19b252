// Random numbers by counting: draw n of a stream is a pure function of (seed, sequence, stream, n). So a decision can
// be repeated anywhere, in any order, with the same result. Philox 4x32 with 10 rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC'11), and transforms of our own, since those of the standard library differ between
// implementations. An object belongs to one thread; copies continue independently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace zeus {

// The generator itself: one block of four words for a counter and a key.
std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

class Random {
 public:
  // `sequence` is what the stream belongs to (such as an event's number), and `stream` one of several within it (an
  // arm).
  explicit Random(std::uint64_t seed, std::uint64_t sequence = 0, std::uint32_t stream = 0);

  std::uint64_t bits();
  double uniform();                          // in the open interval (0, 1)
  double uniform(double low, double high);   // in (low, high)
  std::uint64_t below(std::uint64_t bound);  // in [0, bound), exactly uniform; bound > 0
  double normal();                           // mean 0, variance 1
  double normal(double mean, double sigma);
  double exponential();        // mean 1
  double gamma(double shape);  // scale 1; shape > 0

  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace zeus
