// Cuts a stream of bytes into lines, as a person sees them at a terminal: a carriage return ends a line just as a line
// feed does (progress bars), and escape sequences (colours, cursor movements) are left out. Memory is bounded: a line
// longer than `longest_line` is cut after its beginning. One thread.
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

  // Calls `sink` with every line that these bytes complete, except empty ones.
  void feed(std::string_view bytes, const Sink& sink);
  // Call it at the stream's end: passes on the last line if it has no line end.
  void finish(const Sink& sink);

  // A line that is not over, if it is drawn over the one before: a progress bar, which a person at a terminal sees at
  // once. Empty otherwise.
  [[nodiscard]] std::string_view redrawn() const {
    return after_return_ ? std::string_view{line_} : std::string_view{};
  }

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
  bool after_return_ = false;  // the last line ended with a carriage return
};

}  // namespace zeus::run
