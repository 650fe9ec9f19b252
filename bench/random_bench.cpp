// The cost of portability: our random numbers and elementary functions against the standard library's.

#include "base/portable_math.hpp"
#include "base/random.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

namespace {

void bits_ours(benchmark::State& state) {
  zeus::Random random{1};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(random.bits());
  }
}
BENCHMARK(bits_ours)->Name("random_bits/ours");

void bits_yardstick(benchmark::State& state) {
  std::mt19937_64 random{1};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(random());
  }
}
BENCHMARK(bits_yardstick)->Name("random_bits/yardstick");  // std::mt19937_64

void normal_ours(benchmark::State& state) {
  zeus::Random random{1};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(random.normal());
  }
}
BENCHMARK(normal_ours)->Name("random_normal/ours");

void normal_yardstick(benchmark::State& state) {
  std::mt19937_64 random{1};
  std::normal_distribution<double> normal;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(normal(random));
  }
}
BENCHMARK(normal_yardstick)->Name("random_normal/yardstick");  // std::normal_distribution on std::mt19937_64

// A stream is made for each (sequence, arm) and drawn from once or twice, so making one must cost nothing.
void stream_ours(benchmark::State& state) {
  std::uint64_t sequence = 0;
  for ([[maybe_unused]] auto _ : state) {
    zeus::Random random{1, ++sequence, 3};
    benchmark::DoNotOptimize(random.bits());
  }
}
BENCHMARK(stream_ours)->Name("new_stream/ours");

void stream_yardstick(benchmark::State& state) {
  std::uint64_t sequence = 0;
  for ([[maybe_unused]] auto _ : state) {
    std::mt19937_64 random{++sequence};
    benchmark::DoNotOptimize(random());
  }
}
BENCHMARK(stream_yardstick)->Name("new_stream/yardstick");  // seeding a std::mt19937_64

template <double (*Function)(double)>
void elementary(benchmark::State& state) {
  double x = 0.1;
  for ([[maybe_unused]] auto _ : state) {
    x = x > 20.0 ? 0.1 : x * 1.01;
    benchmark::DoNotOptimize(Function(x));
  }
}
BENCHMARK(elementary<zeus::portable::exp>)->Name("exp/ours");
BENCHMARK(elementary<std::exp>)->Name("exp/yardstick");  // the C library's
BENCHMARK(elementary<zeus::portable::log>)->Name("log/ours");
BENCHMARK(elementary<std::log>)->Name("log/yardstick");  // the C library's

}  // namespace
