// What `zeus run` itself has to say, between the lines of the command: each line once begun with "zeus: ", on standard
// error, and never in the middle of a line of the command. In colour, "zeus:" is red before what went wrong and green
// before a saving. One thread.
#pragma once

#include "base/ink.hpp"

#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>

namespace zeus::run {

class Messages {
 public:
  // A quiet one says nothing but what went wrong. The stream outlives it.
  Messages(std::ostream& err, bool quiet, bool in_colour = false) : err_{err}, quiet_{quiet}, in_colour_{in_colour} {}

  // Who knows whether a line of the command is open; nobody when empty.
  void set_open_line(std::function<bool()> is_open) { is_open_ = std::move(is_open); }

  void say(std::string_view line, Ink ink = Ink::plain);
  // Once, however often.
  void warn(std::string_view line);

 private:
  void write(std::string_view line, Ink ink);

  std::ostream& err_;
  bool quiet_;
  bool in_colour_;
  std::function<bool()> is_open_;
  std::set<std::string, std::less<>> warned_;
};

}  // namespace zeus::run
