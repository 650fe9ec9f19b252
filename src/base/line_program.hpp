// A command that this process talks with in lines: over its standard input and output, while its standard error is
// ours. /bin/sh runs it. Neither side can stall the other: what it prints is read while we write, and each call has a
// patience, in real time. One thread at a time.
#pragma once

#include "base/environment.hpp"
#include "base/group_child.hpp"
#include "base/poll_deadline.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace zeus {

class LineProgram {
 public:
  enum class Outcome {
    done,
    ended,      // the command has ended, or has closed its end; why_ended() says how
    timed_out,  // it does not answer, or does not read
    too_long,   // its line is longer than `longest_line`
  };
  static constexpr std::size_t longest_line = 65'536;

  // A command that cannot be run ends at once, as a shell's does.
  LineProgram(const std::string& command, const Environment& environment);
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;
  // Closes its input, and kills it if it does not end within half a second.
  ~LineProgram();

  // `line` without its end.
  Outcome write(std::string_view line, Seconds patience);
  // The next line that it has printed, without its end, into `line`.
  Outcome read(std::string& line, Seconds patience);
  // True if it has printed more than was read.
  [[nodiscard]] bool has_more();
  // After Outcome::ended: "ended with exit code 1", "was ended by signal 9", "closed its output". Ends it.
  [[nodiscard]] std::string why_ended();

 private:
  // Waits until it has printed something, or can be written to if that is asked for, and reads what it has printed.
  bool wait(bool to_write, PollDeadline deadline);
  void read_some();

  GroupChild child_;
  std::string printed_;
  bool closed_ = false;  // its output
  std::string end_;      // why_ended(), once it is collected
};

}  // namespace zeus
