#include "tests/support/random_graph.hpp"

#include <algorithm>
#include <string>

namespace zeus::test {

namespace {

std::size_t between(Random& random, std::size_t low, std::size_t high) {
  return low + random.below(high - low + 1);
}

records::ComputationProfile random_profile(Random& random, const GraphKind& kind, std::size_t number) {
  records::ComputationProfile profile{.name = "kind " + std::to_string(number), .options = {}};
  const std::size_t count = between(random, kind.fewest_options, kind.most_options);
  const double work = random.uniform(0.005, 0.1);
  const double memory_share = random.uniform(0.0, 0.6);
  const double dynamic = random.uniform(100.0, 350.0);
  const auto noisy = [&](double value) { return value * std::max(0.2, random.normal(1.0, kind.noise)); };
  for (std::size_t i = 0; i < count; ++i) {
    const double clock = 1.0 - 0.6 * static_cast<double>(i) / 15.0;
    const double time = work * (memory_share + (1.0 - memory_share) / clock);
    const double power = 80.0 + dynamic * clock * clock * clock;
    profile.options.push_back({.frequency = Megahertz{1410.0 - 60.0 * static_cast<double>(i)},
                               .time = Seconds{noisy(time)},
                               .energy = Joules{noisy(time * power)}});
  }
  if (!kind.with_oddities) {
    return profile;
  }
  if (random.below(4) == 0) {
    profile.options.push_back(profile.options[random.below(count)]);
  }
  if (random.below(10) == 0) {
    profile.options = {{.frequency = Megahertz{0}, .time = Seconds{random.uniform() * work}, .energy = Joules{1}}};
  }
  if (random.below(20) == 0) {
    profile.options = {{.frequency = Megahertz{0}, .time = Seconds{0}, .energy = Joules{0}}};
  }
  return profile;
}

}  // namespace

records::ComputationGraph random_graph(Random& random, const GraphKind& kind) {
  records::ComputationGraph graph;
  graph.devices = between(random, 1, 6);
  graph.copies = between(random, 1, 3);
  const std::size_t profiles = between(random, 1, 12);
  for (std::size_t i = 0; i < profiles; ++i) {
    graph.profiles.push_back(random_profile(random, kind, i));
  }
  const std::size_t count = between(random, kind.fewest_computations, kind.most_computations);
  for (std::size_t i = 0; i < count; ++i) {
    graph.computations.push_back({.name = "c" + std::to_string(i),
                                  .instruction = "c",
                                  .device = random.below(graph.devices),
                                  .profile = random.below(profiles)});
  }
  const double density = random.uniform(0.5, 3.0) / static_cast<double>(count);
  for (std::size_t to = 1; to < count; ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      if (random.uniform() < density) {
        const double time = random.below(2) == 0 ? 0.0 : random.uniform(0.0, 0.02);
        graph.dependencies.push_back({.from = from, .to = to, .time = Seconds{time}});
      }
    }
  }
  return graph;
}

}  // namespace zeus::test
