#include "base/log_writer.hpp"

#include "base/file_descriptor.hpp"
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>

namespace zeus {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader = FileDescriptor{ends[0]};
    writer = FileDescriptor{ends[1]};
  }
  // All that is written until its end.
  std::string read() {
    writer.close();
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t count = 0; (count = ::read(reader.get(), part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  FileDescriptor reader;
  FileDescriptor writer;
};

TEST(LogWriter, WritesItsLinesAndThoseOfTheLogInTheirOrder) {
  Pipe pipe;
  {
    LogWriter writer{pipe.writer.get()};
    writer.write("first");
    writer.begin_thread();
    log::warning("second");
    writer.write("third");
    writer.end_thread();
    writer.write("fourth");
  }
  EXPECT_EQ(pipe.read(), "first\nwarning: second\nthird\nfourth\n");
}

TEST(LogWriter, EndsThoughItsReaderStandsStillInRealTime) {
  Pipe pipe;
  {
    LogWriter writer{pipe.writer.get(), {}, Seconds{0.05}};
    writer.begin_thread();
    for (int line = 0; line < 3000; ++line) {
      writer.write(std::string(99, 'x'));
    }
    std::array<char, 5000> page{};
    EXPECT_GT(::read(pipe.reader.get(), page.data(), page.size()), 0);
  }
  EXPECT_LT(pipe.read().size(), 300'000U);
}

TEST(LogWriter, BeginsALineAfterOneThatWasCutOffInRealTime) {
  const Pipe pipe;
  std::string text;
  {
    LogWriter writer{pipe.writer.get(), {}, Seconds{0.5}};
    writer.begin_thread();
    for (int line = 0; line < 3000; ++line) {
      writer.write(std::string(99, 'x'));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1500});  // nothing reads
    writer.write("after");
    while (text.find("after") == std::string::npos) {
      std::array<char, 5000> page{};
      const ssize_t count = ::read(pipe.reader.get(), page.data(), page.size());
      ASSERT_GT(count, 0);
      text.append(page.data(), static_cast<std::size_t>(count));
    }
  }
  EXPECT_NE(text.find("\nafter"), std::string::npos);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.find_first_not_of('x') == std::string::npos ? line.size() <= 99 : line.front() != 'x') << line;
  }
}

TEST(LogWriter, EndsWithoutAReader) {
  const auto former = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.reader.close();
  {
    LogWriter writer{pipe.writer.get()};
    writer.begin_thread();
    writer.write("unread");
  }
  (void)std::signal(SIGPIPE, former);
}

}  // namespace
}  // namespace zeus
