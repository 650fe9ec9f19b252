// Cuts a stream of bytes into lines, as a person at a terminal would read it: a carriage return ends a line as a line
// feed does (progress bars), and escape sequences (colours, cursor movements) are left out. Memory is bounded: of a
// line longer than `longest_line` only the beginning is given. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace zeus::run {

class LineSplitter {
 public:
  static constexpr std::size_t longest_line = 16384;

  using Sink = std::function<void(std::string_view line)>;

  // Gives `sink` every line that these bytes complete; empty ones are left out.
  void feed(std::string_view bytes, const Sink& sink);
  // The stream is over: gives what has no end.
  void finish(const Sink& sink);

  // Whether a line was longer than `longest_line`.
  [[nodiscard]] bool has_cut() const { return has_cut_; }

 private:
  enum class State { text, escape, control, title, title_escape };

  void take(char byte);
  bool take_escaped(char byte);
  void end_line(const Sink& sink);

  std::string line_;
  State state_ = State::text;
  bool has_cut_ = false;
};

}  // namespace zeus::run
