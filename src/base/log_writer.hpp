// Writes the program's log on a thread of its own, so that no thread waits for the reader of the log. Lines that come
// faster than they are read are dropped, and counted. While it lives, the lines of base/log.hpp go there.
#pragma once

#include "base/log.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace zeus {

class LogWriter {
 public:
  // How to write a line of the log, without its end.
  using Form = std::function<std::string(log::Level level, std::string_view line)>;

  // To this descriptor, which stays open. Without a form, "warning: LINE".
  explicit LogWriter(int descriptor, Form form = {});
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Writes what is left, unless there is no reader.
  ~LogWriter();

  // Until then each thread writes its own lines. (A thread keeps the rights that the process had when the thread
  // began.)
  void begin_thread();
  // Writes what is left, unless there is no reader. From then on each thread writes its own lines.
  void end_thread();
  // A line that is no log message, without its end.
  void write(std::string line);

 private:
  void run();

  static constexpr std::size_t most_lines = 4096;

  const int descriptor_;
  const Form form_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::uint64_t dropped_ = 0;
  bool has_thread_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace zeus
