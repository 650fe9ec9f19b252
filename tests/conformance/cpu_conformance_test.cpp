// What every CPU package of every back-end promises (device/cpu_package.hpp).

#include "tests/conformance/subject.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

namespace zeus::conformance {
namespace {

using namespace device;

constexpr CpuDomain domains[] = {CpuDomain::package, CpuDomain::dram};

class CpuConformance : public ::testing::Test {};

TEST_F(CpuConformance, PackagesAreNumberedWithoutGapsAndNamedOnce) {
  std::set<std::string> names;
  int index = 0;
  for (const auto& cpu : subject().found.cpus) {
    EXPECT_EQ(cpu->identity().index, index++);
    EXPECT_TRUE(names.insert(cpu->identity().name).second) << cpu->identity().name;
    EXPECT_EQ(cpu->identity().name.find("psys"), std::string::npos) << "psys contains packages and is none";
  }
}

TEST_F(CpuConformance, ACounterThatCanBeReadSaysWhereItWraps) {
  for (const auto& cpu : subject().found.cpus) {
    for (const CpuDomain domain : domains) {
      const Reading<Stamped<Joules>> reading = cpu->energy(domain);
      const Reading<EnergyCounter> counter = cpu->energy_counter(domain);
      if (reading) {
        ASSERT_TRUE(counter);
        ASSERT_TRUE(counter->wraps_at);
        EXPECT_GE(reading->value, 0_J);
        EXPECT_LE(reading->value, *counter->wraps_at);
        EXPECT_GT(counter->resolution, 0_J);
        EXPECT_LE(reading->at, subject().clock->now());
      }
    }
  }
}

TEST_F(CpuConformance, CountersMoveWithTimeModuloTheirWrap) {
  for (const auto& cpu : subject().found.cpus) {
    for (const CpuDomain domain : domains) {
      const Reading<Stamped<Joules>> first = cpu->energy(domain);
      if (!first) {
        continue;
      }
      subject().pass(1_s);
      const Reading<Stamped<Joules>> second = cpu->energy(domain);
      ASSERT_TRUE(second);
      const Joules range = *cpu->energy_counter(domain)->wraps_at;
      const Joules moved =
          second->value >= first->value ? second->value - first->value : second->value + range - first->value;
      EXPECT_GT(moved, 0_J) << cpu->identity().name << ' ' << to_string(domain);
      EXPECT_LT(moved, 2000_J) << "no socket draws two kilowatts";
    }
  }
}

TEST_F(CpuConformance, HotReadingsDoNotAllocate) {
  for (const auto& cpu : subject().found.cpus) {
    const std::size_t before = allocations();
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(cpu->energy(CpuDomain::package));
      static_cast<void>(cpu->energy(CpuDomain::dram));
    }
    EXPECT_EQ(allocations(), before);
  }
}

TEST_F(CpuConformance, ManyThreadsMayReadAtOnce) {
  for (const auto& cpu : subject().found.cpus) {
    const bool readable = static_cast<bool>(cpu->energy(CpuDomain::package));
    std::vector<int> failures(4, 0);
    std::vector<std::thread> threads;
    for (int& failed : failures) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          failed += static_cast<bool>(cpu->energy(CpuDomain::package)) != readable ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(failures, std::vector<int>(4, 0));
  }
}

TEST_F(CpuConformance, ReopeningAndForkingLeaveThemReadable) {
  for (const auto& cpu : subject().found.cpus) {
    if (!cpu->energy(CpuDomain::package)) {
      continue;
    }
    const std::uint64_t generation = cpu->generation();
    ASSERT_TRUE(cpu->reopen());
    EXPECT_GT(cpu->generation(), generation);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::_exit(cpu->reopen() && cpu->energy(CpuDomain::package) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace zeus::conformance
