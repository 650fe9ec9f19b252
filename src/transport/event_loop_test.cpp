#include "transport/event_loop.hpp"

#include "base/file_descriptor.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace zeus::transport {
namespace {

struct Pipe {
  FileDescriptor out;
  FileDescriptor in;
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    out = FileDescriptor{ends[0]};
    in = FileDescriptor{ends[1]};
  }
};

TEST(EventLoop, DoesWhatIsPostedInOrderInRealTime) {
  EventLoop loop;
  std::vector<int> done;
  loop.post([&] { done.push_back(0); });
  std::thread other{[&] {
    for (int i = 1; i <= 1000; ++i) {
      loop.post([&done, i] { done.push_back(i); });
    }
    loop.post([&] { loop.stop(); });
  }};
  loop.run();
  other.join();
  ASSERT_EQ(done.size(), 1001U);
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  }
}

TEST(EventLoop, DropsPendingCallsAtItsEnd) {
  const auto kept = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.post([kept] { FAIL(); });
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(EventLoop, CallsATimerOnceUnlessItIsGivenBackInRealTime) {
  EventLoop loop;
  int called = 0;
  const EventLoop::Watch kept = loop.after(1_ms, [&] { ++called; });
  std::optional<EventLoop::Watch> given_back = loop.after(1_ms, [&] { called += 100; });
  given_back.reset();
  EventLoop::Watch replaced = loop.after(1_ms, [&] { called += 1000; });
  replaced = EventLoop::Watch{};
  const EventLoop::Watch end = loop.after(30_ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(called, 1);
}

TEST(EventLoop, LooksAtADescriptorUntilThatIsGivenBackInRealTime) {
  EventLoop loop;
  Pipe pipe;
  int called = 0;
  EventLoop::Watch watch;
  EventLoop::Watch end;
  watch = loop.when_readable(pipe.out.get(), [&] {
    char byte = 0;
    EXPECT_EQ(::read(pipe.out.get(), &byte, 1), 1);
    if (++called == 3) {
      end = loop.after(30_ms, [&] { loop.stop(); });
      watch = {};  // by what it calls itself
    }
  });
  EXPECT_EQ(::write(pipe.in.get(), "abcd", 4), 4);
  loop.run();
  EXPECT_EQ(called, 3);
  char byte = 0;
  EXPECT_EQ(::read(pipe.out.get(), &byte, 1), 1);  // it stays its owner's
  EXPECT_EQ(byte, 'd');
}

// A process may wait for several things; each watch ends on its own.
TEST(EventLoop, NotifiesEachOfSeveralWatchersInRealTime) {
  EventLoop loop;
  Pipe pipe;
  int first = 0;
  int second = 0;
  EventLoop::Watch one;
  EventLoop::Watch other;
  EventLoop::Watch end;
  const auto stop_after_both = [&] {
    if (first > 0 && second > 0) {
      end = loop.after(30_ms, [&] { loop.stop(); });
    }
  };
  one = loop.when_readable(pipe.out.get(), [&] {
    ++first;
    stop_after_both();
    one = {};
  });
  other = loop.when_readable(pipe.out.get(), [&] {
    ++second;
    stop_after_both();
    other = {};
  });
  pipe.in.close();
  loop.run();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(EventLoop, SeesTheEndOfAPipeInRealTime) {
  EventLoop loop;
  Pipe pipe;
  const EventLoop::Watch watch = loop.when_readable(pipe.out.get(), [&] { loop.stop(); });
  std::thread other{[&] { pipe.in.close(); }};
  loop.run();
  other.join();
}

}  // namespace
}  // namespace zeus::transport
