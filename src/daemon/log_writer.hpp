// Writes the log of the program on a thread of its own, so that nobody waits for whoever reads it. What comes faster
// than it is read is dropped, and counted. While it lives, base/log.hpp's lines go there.
#pragma once

#include "base/log.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace zeus::daemon {

class LogWriter {
 public:
  // To this descriptor, which stays open.
  explicit LogWriter(int descriptor);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Writes what there is, unless nobody reads it.
  ~LogWriter();

  // Until then whoever logs writes itself: a thread keeps the rights that the process had when it began.
  void begin_thread();

 private:
  void run();

  static constexpr std::size_t most_lines = 4096;

  const int descriptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::uint64_t dropped_ = 0;
  bool has_thread_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace zeus::daemon
