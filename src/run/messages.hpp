// The messages of `zeus run`, between the lines of the command: each begins with "zeus: ", goes to standard error, and
// never lands in the middle of a line of the command. In colour, "zeus:" is red before a problem and green before a
// saving. Any thread, because the log's lines are messages too.
#pragma once

#include "base/ink.hpp"

#include <functional>
#include <iosfwd>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace zeus::run {

class Messages {
 public:
  // A quiet one prints nothing but problems. The stream outlives it.
  Messages(std::ostream& err, bool quiet, bool in_colour = false) : err_{err}, quiet_{quiet}, in_colour_{in_colour} {}

  // Sets how to write while the command's output stands still, knowing whether a line of it is open; without it, none
  // is.
  using Write = std::function<void(bool mid_line)>;
  void set_between(std::function<void(const Write&)> between);

  void say(std::string_view line, Ink ink = Ink::plain);
  // The same warning is printed once.
  void warn(std::string_view line);

 private:
  void write(std::string_view line, Ink ink);  // under the lock

  std::ostream& err_;
  bool quiet_;
  bool in_colour_;
  std::mutex mutex_;
  std::function<void(const Write&)> between_;
  std::set<std::string, std::less<>> warned_;
};

}  // namespace zeus::run
