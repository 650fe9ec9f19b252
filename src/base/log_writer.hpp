// Writes the program's log on a thread of its own, so that no thread waits for the reader of the log. Lines that are
// not read in time are dropped, and counted. While it lives, the lines of base/log.hpp go there.
#pragma once

#include "base/log.hpp"

#include <zeus/units.hpp>

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

  // To this descriptor, which stays open. Without a form, "warning: LINE". It waits for the reader until that has read
  // nothing for `patience`.
  explicit LogWriter(int descriptor, Form form = {}, Seconds patience = Seconds{2});
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Writes what is left, unless the reader is gone or reads no more.
  ~LogWriter();

  // Until then each thread writes its own lines. (A thread keeps the rights that the process had when the thread
  // began.) Once.
  void begin_thread();
  // As the destructor does. From then on each thread writes its own lines.
  void end_thread();
  // A line that is no log message, without its end.
  void write(std::string line);

 private:
  void run();

  static constexpr std::size_t most_lines = 4096;

  const int descriptor_;
  const Form form_;
  const Seconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::uint64_t dropped_ = 0;
  bool has_thread_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace zeus
