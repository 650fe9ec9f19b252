// What every GPU of every back-end promises (device/gpu.hpp).

#include "tests/conformance/subject.hpp"
#include "tests/support/population.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

namespace zeus::conformance {
namespace {

using namespace device;

class GpuConformance : public ::testing::Test {
 protected:
  static std::vector<Gpu*> gpus() {
    std::vector<Gpu*> all;
    for (const DiscoveredGpu& found : subject().found.gpus) {
      all.push_back(found.gpu.get());
    }
    return all;
  }
};

constexpr PowerKind kinds[] = {PowerKind::instant, PowerKind::average, PowerKind::plain};
constexpr PowerScope scopes[] = {PowerScope::gpu, PowerScope::module, PowerScope::memory, PowerScope::package};

TEST_F(GpuConformance, IdentitiesAreCompleteAndUnique) {
  std::set<std::string> uuids;
  std::set<PciAddress> addresses;
  int index = 0;
  for (const Gpu* gpu : gpus()) {
    const GpuIdentity& identity = gpu->identity();
    EXPECT_TRUE(identity.uuid.starts_with("GPU-")) << identity.uuid;
    EXPECT_TRUE(uuids.insert(identity.uuid).second) << identity.uuid;
    EXPECT_TRUE(addresses.insert(identity.pci).second) << to_string(identity.pci);
    EXPECT_EQ(identity.index, index++);
    EXPECT_FALSE(identity.name.empty());
    EXPECT_FALSE(identity.driver.empty());
  }
}

template <typename T>
void expect_agreement(const Gpu& gpu, GpuFeature feature, const Reading<T>& reading) {
  EXPECT_EQ(gpu.features().has(feature), static_cast<bool>(reading))
      << to_text(gpu.identity()) << ": " << to_string(feature);
  if (!gpu.features().has(feature) && !reading) {
    EXPECT_EQ(gpu.features()[feature].failure().reason, reading.failure().reason) << to_string(feature);
  }
}

TEST_F(GpuConformance, WhatWasProbedIsWhatReadingsSay) {
  for (const Gpu* gpu : gpus()) {
    expect_agreement(*gpu, GpuFeature::energy_counter, gpu->energy());
    expect_agreement(*gpu, GpuFeature::energy_counter, gpu->energy_counter());
    for (const PowerKind kind : kinds) {
      for (const PowerScope scope : scopes) {
        const Reading<Stamped<Watts>> reading = gpu->power(kind, scope);
        if (const std::optional<GpuFeature> feature = power_feature(kind, scope)) {
          expect_agreement(*gpu, *feature, reading);
        } else {
          EXPECT_FALSE(reading) << "no device reports " << to_string(kind) << " power of " << to_string(scope);
        }
      }
    }
    std::vector<Stamped<Watts>> samples;
    expect_agreement(*gpu, GpuFeature::power_samples, gpu->power_samples(subject().clock->now(), samples));
    expect_agreement(*gpu, GpuFeature::power_limits, gpu->power_limits().current);
    expect_agreement(*gpu, GpuFeature::clocks, gpu->clocks().sm);
    expect_agreement(*gpu, GpuFeature::supported_clocks, gpu->supported_memory_clocks());
    expect_agreement(*gpu, GpuFeature::locked_clocks, gpu->locked_clocks(ClockDomain::graphics));
    expect_agreement(*gpu, GpuFeature::temperature, gpu->temperature());
    expect_agreement(*gpu, GpuFeature::utilization, gpu->utilization());
    expect_agreement(*gpu, GpuFeature::throttle_reasons, gpu->throttle_reasons());
    expect_agreement(*gpu, GpuFeature::throttle_times, gpu->throttle_times().power_cap);
    expect_agreement(*gpu, GpuFeature::persistence_mode, gpu->persistence_mode());
    expect_agreement(*gpu, GpuFeature::processes, gpu->processes());
    expect_agreement(*gpu, GpuFeature::mig, gpu->mig());
  }
}

TEST_F(GpuConformance, TheCounterNeverGoesBackAndMovesWithTime) {
  std::map<const Gpu*, Joules> first;
  for (const Gpu* gpu : gpus()) {
    if (gpu->features().has(GpuFeature::energy_counter)) {
      EXPECT_GT(gpu->energy_counter()->resolution, 0_J);
      first[gpu] = gpu->energy()->value;
    }
  }
  std::map<const Gpu*, Joules> last = first;
  for (int i = 0; i < 20; ++i) {
    subject().pass(50_ms);
    for (const auto& [gpu, began] : first) {
      const Reading<Stamped<Joules>> reading = gpu->energy();
      ASSERT_TRUE(reading) << to_string(reading.failure());
      EXPECT_GE(reading->value, last[gpu]);
      last[gpu] = reading->value;
    }
  }
  for (const auto& [gpu, value] : last) {
    EXPECT_GT(value, first[gpu]) << to_text(gpu->identity()) << ": no GPU uses nothing for a second";
  }
}

template <typename T>
void expect_stamp(const Stamped<T>& stamped, Instant before, Instant after) {
  EXPECT_LE(stamped.at, after);
  EXPECT_GE(stamped.at, before - 2_s);
  EXPECT_GE(stamped.latency, 0_s);
}

TEST_F(GpuConformance, ReadingsAreStampedWithTheTimeTheyAreOf) {
  for (const Gpu* gpu : gpus()) {
    const Instant before = subject().clock->now();
    const Reading<Stamped<Joules>> energy = gpu->energy();
    if (energy) {
      expect_stamp(*energy, before, subject().clock->now());
    }
    for (const PowerKind kind : kinds) {
      if (const Reading<Stamped<Watts>> power = gpu->power(kind, PowerScope::gpu)) {
        expect_stamp(*power, before, subject().clock->now());
        EXPECT_GT(power->value, 0_W);
      }
    }
  }
}

TEST_F(GpuConformance, HotReadingsDoNotAllocate) {
  for (const Gpu* gpu : gpus()) {
    const std::size_t before = allocations();
    for (int i = 0; i < test::drawn(100); ++i) {
      static_cast<void>(gpu->energy());
      for (const PowerKind kind : kinds) {
        static_cast<void>(gpu->power(kind, PowerScope::gpu));
      }
    }
    EXPECT_EQ(allocations(), before) << to_text(gpu->identity());
  }
}

TEST_F(GpuConformance, SamplesAreInOrderAndOnlyThoseThatWereAskedFor) {
  const Instant start = subject().clock->now();
  subject().pass(600_ms);
  std::map<const Gpu*, std::vector<Stamped<Watts>>> of_gpu;
  for (const Gpu* gpu : gpus()) {
    if (!gpu->features().has(GpuFeature::power_samples)) {
      continue;
    }
    std::vector<Stamped<Watts>>& samples = of_gpu[gpu];
    ASSERT_TRUE(gpu->power_samples(start, samples));
    ASSERT_FALSE(samples.empty()) << to_text(gpu->identity());
    EXPECT_TRUE(std::ranges::is_sorted(samples, {}, &Stamped<Watts>::at));
    const Instant end = subject().clock->now();
    for (const Stamped<Watts>& sample : samples) {
      EXPECT_GE(sample.at, start - 1_ms);
      EXPECT_LE(sample.at, end + 1_ms);
      EXPECT_GT(sample.value, 0_W);
    }
  }
  subject().pass(600_ms);
  for (auto& [gpu, samples] : of_gpu) {
    const std::size_t known = samples.size();
    const Instant last = samples.back().at;
    ASSERT_TRUE(gpu->power_samples(last + 1_ms, samples));
    EXPECT_GT(samples.size(), known) << "those that are new are appended";
    EXPECT_TRUE(std::ranges::is_sorted(samples, {}, &Stamped<Watts>::at));
  }
}

TEST_F(GpuConformance, LimitsAreInOrder) {
  for (const Gpu* gpu : gpus()) {
    const PowerLimits limits = gpu->power_limits();
    if (!limits.minimum || !limits.maximum || !limits.current) {
      continue;
    }
    EXPECT_GT(*limits.minimum, 0_W);
    EXPECT_LE(*limits.minimum, *limits.maximum);
    EXPECT_GE(*limits.current, *limits.minimum);
    EXPECT_LE(*limits.current, *limits.maximum);
    EXPECT_GE(limits.standard.optional().value_or(*limits.minimum), *limits.minimum);
    EXPECT_LE(limits.standard.optional().value_or(*limits.maximum), *limits.maximum);
    EXPECT_LE(limits.enforced.optional().value_or(*limits.current), *limits.maximum);
  }
}

TEST_F(GpuConformance, SupportedClocksAreListedHighestFirst) {
  for (const Gpu* gpu : gpus()) {
    if (!gpu->features().has(GpuFeature::supported_clocks)) {
      continue;
    }
    const std::vector<Megahertz> memory = *gpu->supported_memory_clocks();
    ASSERT_FALSE(memory.empty());
    EXPECT_TRUE(std::ranges::is_sorted(memory, std::greater<>{}));
    for (const Megahertz clock : memory) {
      const Reading<std::vector<Megahertz>> graphics = gpu->supported_graphics_clocks(clock);
      ASSERT_TRUE(graphics) << to_string(graphics.failure());
      EXPECT_FALSE(graphics->empty());
      EXPECT_TRUE(std::ranges::is_sorted(*graphics, std::greater<>{}));
    }
    EXPECT_EQ(gpu->supported_graphics_clocks(1_MHz).failure().reason, Reason::out_of_range) << "of memory";
  }
}

TEST_F(GpuConformance, ReadingsArePossible) {
  for (const Gpu* gpu : gpus()) {
    if (const Reading<Celsius> temperature = gpu->temperature()) {
      EXPECT_GT(*temperature, 0_degC);
      EXPECT_LT(*temperature, 120_degC);
    }
    if (const Reading<Utilization> busy = gpu->utilization()) {
      EXPECT_TRUE(busy->gpu >= 0 && busy->gpu <= 1);
      EXPECT_TRUE(busy->memory >= 0 && busy->memory <= 1);
    }
    const Clocks clocks = gpu->clocks();
    if (clocks.graphics && clocks.maximum_graphics) {
      EXPECT_LE(*clocks.graphics, *clocks.maximum_graphics);
    }
    const ThrottleTimes first = gpu->throttle_times();
    subject().pass(50_ms);
    const ThrottleTimes second = gpu->throttle_times();
    if (first.power_cap && second.power_cap) {
      EXPECT_GE(*second.power_cap, *first.power_cap);
      EXPECT_GE(second.at, first.at);
    }
  }
}

TEST_F(GpuConformance, ManyThreadsMayReadAtOnce) {
  for (const Gpu* gpu : gpus()) {
    const Reading<Stamped<Joules>> probe = gpu->energy();
    std::vector<int> failures(4, 0);
    std::vector<std::thread> threads;
    for (int& failed : failures) {
      threads.emplace_back([gpu, &failed, counts = static_cast<bool>(probe)] {
        Joules last{0};
        for (int i = 0; i < test::drawn(100); ++i) {
          const Reading<Stamped<Joules>> reading = gpu->energy();
          failed += static_cast<bool>(reading) != counts || (reading && reading->value < last) ? 1 : 0;
          last = reading ? reading->value : last;
          static_cast<void>(gpu->power(PowerKind::instant, PowerScope::gpu));
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(failures, std::vector<int>(4, 0)) << to_text(gpu->identity());
  }
}

TEST_F(GpuConformance, ReopeningKeepsTheIdentityAndGrowsTheGeneration) {
  for (Gpu* gpu : gpus()) {
    const GpuIdentity identity = gpu->identity();
    const std::uint64_t generation = gpu->generation();
    const Outcome outcome = gpu->reopen();
    ASSERT_TRUE(outcome) << to_string(outcome.failure());
    EXPECT_EQ(gpu->identity(), identity);
    EXPECT_GT(gpu->generation(), generation);
  }
  const std::set<std::uint64_t> generations = [] {
    std::set<std::uint64_t> result;
    for (const Gpu* gpu : gpus()) {
      result.insert(gpu->generation());
    }
    return result;
  }();
  EXPECT_EQ(generations.size(), 1U) << "shared state is reopened once";
}

TEST_F(GpuConformance, AForkedChildReadsAfterReopening) {
  const std::vector<Gpu*> all = gpus();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int failed = 0;
    for (Gpu* gpu : all) {
      failed += gpu->reopen() ? 0 : 1;
      failed += gpu->features().has(GpuFeature::energy_counter) && !gpu->energy() ? 1 : 0;
    }
    ::_exit(failed);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "so many readings failed in the child";
  for (const Gpu* gpu : all) {
    EXPECT_EQ(static_cast<bool>(gpu->energy()), gpu->features().has(GpuFeature::energy_counter))
        << "the child does not disturb its parent";
  }
}

// Settings, only if the subject may be set.
class GpuControlConformance : public GpuConformance {};

TEST_F(GpuControlConformance, ALimitThatWasSetIsReadBackAndHolds) {
  for (const DiscoveredGpu& found : subject().found.gpus) {
    const PowerLimits before = found.gpu->power_limits();
    if (found.control == nullptr || !before.current || !before.minimum || !before.maximum) {
      continue;
    }
    ASSERT_TRUE(found.control->set_power_limit(*before.minimum));
    subject().pass(100_ms);
    EXPECT_EQ(*found.gpu->power_limits().current, *before.minimum);
    EXPECT_LE(*found.gpu->power_limits().enforced, *before.minimum);
    for (const Watts outside : {*before.minimum - 1_W, *before.maximum + 1_W, Watts{0}, Watts{-1}}) {
      const Outcome refused = found.control->set_power_limit(outside);
      ASSERT_FALSE(refused) << outside.value();
      EXPECT_EQ(refused.failure().reason, Reason::out_of_range) << outside.value();
      EXPECT_EQ(*found.gpu->power_limits().current, *before.minimum) << "a refused setting changes nothing";
    }
    ASSERT_TRUE(found.control->set_power_limit(*before.current));
    EXPECT_EQ(*found.gpu->power_limits().current, *before.current);
  }
}

TEST_F(GpuControlConformance, LockedClocksHoldUntilTheyAreReset) {
  std::map<const DiscoveredGpu*, Megahertz> locked;
  for (const DiscoveredGpu& found : subject().found.gpus) {
    if (found.control == nullptr || !found.gpu->features().has(GpuFeature::supported_clocks)) {
      continue;
    }
    const std::vector<Megahertz> clocks =
        *found.gpu->supported_graphics_clocks(found.gpu->supported_memory_clocks()->front());
    const Megahertz chosen = clocks.at(clocks.size() / 2);
    const Outcome outcome = found.control->lock_clocks(ClockDomain::graphics, {chosen, chosen});
    if (!outcome) {
      EXPECT_EQ(outcome.failure().reason, Reason::unsupported) << to_string(outcome.failure());
    } else {
      locked[&found] = chosen;
    }
  }
  subject().pass(300_ms);
  for (const auto& [found, chosen] : locked) {
    EXPECT_LE(*found->gpu->clocks().graphics, chosen);
    if (const auto told = found->gpu->locked_clocks(ClockDomain::graphics)) {
      EXPECT_EQ(*told, (ClockRange{chosen, chosen}));
    }
    ASSERT_TRUE(found->control->reset_clocks(ClockDomain::graphics));
    if (const auto told = found->gpu->locked_clocks(ClockDomain::graphics)) {
      EXPECT_EQ(*told, std::nullopt);
    }
  }
}

TEST_F(GpuControlConformance, PersistenceModeIsSetAndReadBack) {
  for (const DiscoveredGpu& found : subject().found.gpus) {
    const Reading<bool> before = found.gpu->persistence_mode();
    if (found.control == nullptr || !before) {
      continue;
    }
    ASSERT_TRUE(found.control->set_persistence_mode(!*before));
    EXPECT_EQ(*found.gpu->persistence_mode(), !*before);
    ASSERT_TRUE(found.control->set_persistence_mode(*before));
    EXPECT_EQ(*found.gpu->persistence_mode(), *before);
  }
}

}  // namespace
}  // namespace zeus::conformance
