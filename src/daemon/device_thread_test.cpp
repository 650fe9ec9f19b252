#include "daemon/device_thread.hpp"

#include "tests/support/hand_loop.hpp"

#include <gmock/gmock.h>

#include <future>

namespace zeus::daemon {
namespace {

using End = DeviceThread::End;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeviceThreadTest : public ::testing::Test {
 protected:
  DeviceThreadTest() {
    loop_.tick = [this](Instant now) { thread_->tick(now); };
  }
  void TearDown() override {
    if (hangs_) {
      go_on_.set_value();
    }
  }

  DeviceThread::Call call(const std::string& name, bool is_owed = false) {
    return {.work = [this, name] { done_.push_back(name); },
            .ended = [this, name](End end) { ended_.emplace_back(name, end); },
            .is_wanted = {},
            .is_owed = is_owed};
  }
  void hang() {
    hangs_ = true;
    DeviceThread::Call one = call("hang");
    one.work = [this, until = go_on_.get_future().share()] {
      until.wait();
      done_.push_back("hang");
    };
    thread_->ask(std::move(one));
  }
  void go_on() {
    hangs_ = false;
    go_on_.set_value();
    loop_.run_until([&] { return thread_->is_idle(); });
  }

  VirtualClock clock_{Instant{1'000'000'000'000}};
  test::HandLoop loop_{clock_};
  std::promise<void> go_on_;
  bool hangs_ = false;
  std::vector<std::string> done_;  // the device's thread, until it is idle
  std::vector<std::pair<std::string, End>> ended_;
  std::optional<DeviceThread> thread_{std::in_place, loop_, "test", DeviceThread::Bounds{Seconds{2}, 3}};
};

TEST_F(DeviceThreadTest, DoesOneAfterTheOtherInTheirOrder) {
  for (const char* const name : {"a", "b", "c"}) {
    thread_->ask(call(name));
  }
  loop_.run_until([&] { return thread_->is_idle(); });
  EXPECT_THAT(done_, ElementsAre("a", "b", "c"));
  EXPECT_THAT(ended_, ElementsAre(std::pair{"a", End::done}, std::pair{"b", End::done}, std::pair{"c", End::done}));
}

TEST_F(DeviceThreadTest, AFullQueueRefusesRequestsButOwedCallsComeFirst) {
  hang();
  for (const char* const name : {"a", "b", "c", "d"}) {
    thread_->ask(call(name));
  }
  EXPECT_THAT(ended_, ElementsAre(std::pair{"d", End::too_many}));
  thread_->ask(call("owed", true));
  EXPECT_EQ(thread_->waiting(), 4U);
  go_on();
  EXPECT_THAT(done_, ElementsAre("hang", "owed", "a", "b", "c"));
}

TEST_F(DeviceThreadTest, SkipsCallsThatAreNoLongerWanted) {
  hang();
  bool is_wanted = true;
  DeviceThread::Call one = call("a");
  one.is_wanted = [&] { return is_wanted; };
  thread_->ask(std::move(one));
  is_wanted = false;
  go_on();
  EXPECT_THAT(done_, ElementsAre("hang"));
  EXPECT_THAT(ended_, ::testing::Contains(std::pair{"a", End::abandoned}));
}

TEST_F(DeviceThreadTest, AnAbandonedCallMayAskForAnother) {
  hang();
  DeviceThread::Call unwanted = call("unwanted");
  unwanted.is_wanted = [] { return false; };
  unwanted.ended = [this](End end) {
    ended_.emplace_back("unwanted", end);
    thread_->ask(call("next"));
  };
  thread_->ask(std::move(unwanted));
  thread_->ask(call("behind"));
  go_on();
  EXPECT_THAT(done_, ElementsAre("hang", "behind", "next"));
  EXPECT_THAT(ended_, ElementsAre(std::pair{"hang", End::done}, std::pair{"unwanted", End::abandoned},
                                  std::pair{"behind", End::done}, std::pair{"next", End::done}));
}

TEST_F(DeviceThreadTest, AHangingCallIsLateAndOthersFailAtOnceUntilItEnds) {
  hang();
  thread_->ask(call("waits"));
  thread_->ask(call("owed", true));
  loop_.advance(Seconds{1.9});
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_FALSE(thread_->stuck_since());
  loop_.advance(Seconds{0.2});
  EXPECT_THAT(ended_, ElementsAre(std::pair{"waits", End::stuck}, std::pair{"hang", End::late}));
  EXPECT_EQ(clock_.now() - thread_->stuck_since().value_or(Instant{}), Seconds{2.1});
  thread_->ask(call("comes"));
  EXPECT_EQ(ended_.back(), (std::pair{std::string{"comes"}, End::stuck}));
  go_on();
  EXPECT_THAT(done_, ElementsAre("hang", "owed"));
  EXPECT_FALSE(thread_->stuck_since());
  EXPECT_THAT(ended_, ::testing::Contains(std::pair{"hang", End::done}));
}

TEST_F(DeviceThreadTest, AHangingThreadIsAbandonedAndReportsNothing) {
  const auto until = std::make_shared<std::promise<void>>();
  const auto over = std::make_shared<std::promise<void>>();
  const auto began = std::make_shared<std::promise<void>>();
  thread_->ask({.work =
                    [began, until, over] {
                      began->set_value();
                      until->get_future().wait();
                      over->set_value();
                    },
                .ended = [this](End end) { ended_.emplace_back("left", end); },
                .is_wanted = {}});
  began->get_future().wait();
  thread_.reset();
  until->set_value();
  over->get_future().wait();
  loop_.post([this] { ended_.emplace_back("posted", End::done); });
  loop_.run_until([&] { return !ended_.empty(); });
  EXPECT_THAT(ended_, ElementsAre(std::pair{"posted", End::done}));
}

}  // namespace
}  // namespace zeus::daemon
