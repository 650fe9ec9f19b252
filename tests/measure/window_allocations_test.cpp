// Counts what begin() and end() allocate in the thread that calls them.
#include "tests/support/monitored_gpus.hpp"

#include <zeus/measure.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

thread_local std::size_t allocation_count = 0;

}  // namespace

// The default forms of the array and nothrow operators come here as well.
void* operator new(std::size_t size) {
  ++allocation_count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {  // NOLINT(cppcoreguidelines-no-malloc)
    return memory;
  }
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

namespace zeus {
namespace {

using test::MonitoredGpus;

// How much a stretch of code allocates.
class Allocations {
 public:
  template <typename Code>
  void count(const Code& code) {
    const std::size_t before = allocation_count;
    code();
    sum_ += allocation_count - before;
  }
  // Since the last question.
  std::size_t take() { return std::exchange(sum_, 0); }

 private:
  std::size_t sum_ = 0;
};

constexpr const char* long_name = "a name that is too long for a string without memory of its own";

class WindowAllocations : public testing::TestWithParam<const char*> {
 protected:
  MonitoredGpus bench_{{GetParam(), GetParam()}};
  Monitor& monitor_ = *bench_.monitor;
  Allocations allocations_;
};

TEST_P(WindowAllocations, AllocatorsAreCounted) {
  allocations_.count([] { EXPECT_FALSE(std::string(long_name).empty()); });
  EXPECT_EQ(allocations_.take(), 1U);
}

TEST_P(WindowAllocations, TheFirstWindowAllocatesAndThoseAfterItDoNot) {
  Measurement measurement;
  for (int window = 0; window < 400; ++window) {
    bench_.gpus[0]->draw(Watts{100.0 + window % 7 * 20.0});
    allocations_.count([&] { monitor_.begin(long_name); });
    bench_.pass(Seconds{0.003 * (window % 50)});  // some end before their beginning is settled, some within a tick
    allocations_.count([&] { monitor_.end(long_name, measurement); });
    EXPECT_EQ(measurement.window, long_name);
    EXPECT_EQ(allocations_.take() > 0, window == 0) << window;
    bench_.pass(Seconds{window % 3 == 0 ? 0.25 : 0.001});
  }
}

// In the second round, the measurements still hold the windows of the first one. Edges beside a tick that was seen
// roughly wait for up to 12 ticks, which is five rounds more.
TEST_P(WindowAllocations, OfManyOpenAtOnceOnlyRoundsBeforeTheFirstIsSettledAllocate) {
  constexpr int settled = 7;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back(long_name + std::to_string(i));
  }
  std::vector<Measurement> measurements(names.size());
  for (int round = 0; round < 2 * settled; ++round) {
    for (const std::string& name : names) {
      allocations_.count([&] { monitor_.begin(name); });
      bench_.pass(0.005_s);
    }
    bench_.pass(0.1_s);
    for (std::size_t i = 0; i < names.size(); ++i) {
      allocations_.count([&] { monitor_.end(names[i], measurements[i]); });
    }
    const std::size_t allocated = allocations_.take();
    EXPECT_TRUE(round < settled || allocated == 0) << round << ": " << allocated;
  }
}

// A restart makes the new window before it gives up the old one: with the measurement's, three are alive.
TEST_P(WindowAllocations, ARestartAllocatesNothingAfterTheFirstTwo) {
  Measurement measurement;
  for (int window = 0; window < 20; ++window) {
    allocations_.count([&] {
      monitor_.begin(long_name, true);
      monitor_.begin(long_name, true);
    });
    bench_.pass(0.05_s);
    if (window % 3 == 0) {
      allocations_.count([&] { monitor_.end(long_name, measurement); });
    }
    const std::size_t allocated = allocations_.take();
    EXPECT_TRUE(window < 2 || allocated == 0) << window << ": " << allocated;
  }
}

// It has memory of its own: its name, and for each GPU an energy and what throttled it.
TEST_P(WindowAllocations, ANewMeasurementAllocatesWhatItConsistsOf) {
  for (int window = 0; window < 20; ++window) {
    allocations_.count([&] { monitor_.begin(long_name); });
    EXPECT_EQ(allocations_.take() > 0, window == 0) << window;
    bench_.pass(0.1_s);
    allocations_.count([&] { EXPECT_EQ(monitor_.end(long_name).gpu_energy.size(), 2U); });
    const std::size_t allocated = allocations_.take();
    EXPECT_TRUE(window == 0 || allocated == 5) << window << ": " << allocated;
  }
}

TEST_P(WindowAllocations, AReusedMeasurementHoldsNothingOfTheFormerOne) {
  MonitoredGpus other{{GetParam()}};
  other.monitor->begin("other");
  monitor_.begin("both");
  bench_.pass(0.3_s);
  other.pass(0.3_s);
  Measurement measurement;
  monitor_.end("both", measurement);
  EXPECT_EQ(measurement.gpu_energy.size(), 2U);
  other.monitor->end("other", measurement);
  EXPECT_EQ(measurement.window, "other");
  EXPECT_EQ(measurement.gpu_energy.size(), 1U);
  EXPECT_EQ(measurement.gpu_throttle.size(), 1U);
  other.gpus[0]->lost = true;
  other.monitor->begin("lost");
  other.pass(0.1_s);
  other.monitor->end("lost", measurement);
  EXPECT_FALSE(measurement.gpu_energy.at(0).energy);
  EXPECT_FALSE(measurement.gpu_energy.at(0).reason.empty());
}

// The last one has no energy counter.
INSTANTIATE_TEST_SUITE_P(Cards, WindowAllocations, testing::Values("A100", "V100", "P100"));

}  // namespace
}  // namespace zeus
