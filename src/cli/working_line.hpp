// The line on a terminal that says what a command is at while it works for long, and for how long so far. Where the
// command ends within two seconds, or standard error is no terminal that can be drawn on, nothing of it is ever
// written; it is erased before anything else is printed and in the end. Called by one thread; a thread of its own
// draws, so that the work need not look at the time. The stream and the clock outlive it; meanwhile nobody else writes
// there.
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
  // What of the line fits on the terminal, in columns.
  using Columns = std::function<std::size_t()>;

  WorkingLine(std::ostream& err, Clock& clock, bool live);
  WorkingLine(std::ostream& err, Clock& clock, bool live, Columns columns);
  WorkingLine(const WorkingLine&) = delete;
  WorkingLine& operator=(const WorkingLine&) = delete;
  ~WorkingLine();

  // What is worked on from now on.
  void show(std::string_view doing);
  // A line that stays, above it; also where nothing is drawn.
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
  bool due_ = false;    // long enough
  bool drawn_ = false;  // it stands there now
  bool over_ = false;
  std::thread drawer_;  // none where nothing is drawn
};

}  // namespace zeus::cli
