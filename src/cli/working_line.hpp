// The line on a terminal that shows what a command is working on, and for how long. Nothing is written if the command
// ends within two seconds, or if standard error is not a terminal that can be drawn on. The line is erased before
// anything else is printed, and at the end. One thread calls it. It draws in its own thread, so the work does not have
// to watch the time. The stream and the clock must outlive it, and until its end nothing else may write to the stream.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace zeus::cli {

// Whether such a line can be drawn on standard error.
bool has_working_line(const Environment& environment);

class WorkingLine {
 public:
  // How many columns of the line fit on the terminal.
  using Columns = std::function<std::size_t()>;

  WorkingLine(std::ostream& err, Clock& clock, bool live);
  WorkingLine(std::ostream& err, Clock& clock, bool live, Columns columns);
  WorkingLine(const WorkingLine&) = delete;
  WorkingLine& operator=(const WorkingLine&) = delete;
  ~WorkingLine();

  // What the command works on from now on.
  void show(std::string_view doing);
  // Prints a line that stays, above the working line; also if nothing is drawn.
  void print(std::string_view line);

 private:
  void keep();
  void draw(Instant now);
  void erase();

  std::ostream& err_;
  Clock& clock_;
  Columns columns_;
  Instant began_;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::string doing_;
  Instant drawn_at_;
  bool due_ = false;    // worked for long enough
  bool drawn_ = false;  // it is on the terminal now
  bool over_ = false;
  std::thread drawer_;  // not started if nothing is drawn
};

}  // namespace zeus::cli
