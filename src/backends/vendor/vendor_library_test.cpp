// Promises of every vendor's library, tested on one made up for this.
#include "backends/vendor/vendor_library.hpp"

#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace zeus::backends {
namespace {

struct Counts {
  int opened = 0;
  int closed = 0;
};

enum class Code { success, not_supported, broken };

struct MadeUpApi {
  using Functions = Counts*;
  using Code = backends::Code;
  using Clock = const zeus::Clock;
  template <typename Value>
  struct Answer {
    Value value{};
  };

  static Code initialise(Counts* counts) {
    ++counts->opened;
    return Code::success;
  }
  static void shut_down(Counts* counts) { ++counts->closed; }
  static Failure failure_of(Code code) {
    return {code == Code::not_supported ? Reason::unsupported : Reason::unknown, {}};
  }
  static Failure failure_of_setting(Code /*code*/) { return {Reason::out_of_range, {}}; }
};

class MadeUpLibrary final : public VendorLibrary<MadeUpApi> {
 public:
  using VendorLibrary::call_one_at_a_time;
  using VendorLibrary::VendorLibrary;
};

class VendorLibraryTest : public testing::Test {
 protected:
  VirtualClock clock_;
  Counts counts_;
  std::optional<MadeUpLibrary> library_{std::in_place, &counts_, std::nullopt, clock_};
};

TEST_F(VendorLibraryTest, IsShutDownAsOftenAsItWasOpened) {
  library_.reset();
  EXPECT_EQ(counts_.closed, 0) << "what was not opened is not shut down";
  library_.emplace(&counts_, std::nullopt, clock_);
  EXPECT_EQ(library_->open(), Code::success);
  EXPECT_TRUE(library_->reopen(0));
  EXPECT_TRUE(library_->reopen(0)) << "another device has seen to it";
  EXPECT_EQ(library_->generation(), 1U);
  library_.reset();
  EXPECT_EQ(counts_.opened, 2);
  EXPECT_EQ(counts_.closed, 2);
}

TEST_F(VendorLibraryTest, AForkedChildShutsDownOnlyWhatItOpened) {
  EXPECT_EQ(library_->open(), Code::success);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool reopened = library_->reopen(0).has_value();
    const bool left_alone = counts_.closed == 0;
    library_.reset();
    ::_exit(reopened && left_alone && counts_.closed == 1 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(VendorLibraryTest, AnswersAreReadingsAndMissingFunctionsAreUnsupported) {
  const auto seven = [](int* value) {
    *value = 7;
    return Code::success;
  };
  const auto broken = [](int*) { return Code::broken; };
  const auto refusing = [](int) { return Code::broken; };
  EXPECT_EQ(*library_->ask<int>(+seven), 7);
  EXPECT_EQ(library_->ask<int>(+broken).failure().reason, Reason::unknown);
  EXPECT_EQ(library_->tell(+refusing, 1).failure().reason, Reason::out_of_range);
  Code (*const missing)(int*) = nullptr;
  EXPECT_EQ(library_->ask<int>(missing).failure(), call_missing);
  EXPECT_EQ(library_->call(missing, static_cast<int*>(nullptr)), Code::not_supported);
}

TEST_F(VendorLibraryTest, CallsAreMadeOneAtATimeIfTheLibraryRequiresThat) {
  library_->call_one_at_a_time();
  struct Inside {
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;
  } inside;
  const auto enter = [](Inside* where) {
    where->most = std::max(where->most.load(), ++where->now);
    std::this_thread::yield();
    --where->now;
    return Code::success;
  };
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        library_->call(+enter, &inside);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(inside.most, 1);
}

}  // namespace
}  // namespace zeus::backends
