#include "base/no_pipe_signal.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>

namespace zeus {
namespace {

TEST(NoPipeSignal, AWriteWithoutAReaderFailsAndEndsNothing) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  {
    const NoPipeSignal quiet;
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
  ::close(ends[1]);
}

}  // namespace
}  // namespace zeus
