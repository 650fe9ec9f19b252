#include "run/line_splitter.hpp"

namespace zeus::run {

namespace {

constexpr char escape = '\x1b';
constexpr char bell = '\a';

}  // namespace

void LineSplitter::feed(std::string_view bytes, const Sink& sink) {
  for (const char byte : bytes) {
    if (byte == '\n' || byte == '\r') {
      end_line(sink);
      after_return_ = byte == '\r';
    } else {
      take(byte);
    }
  }
}

void LineSplitter::finish(const Sink& sink) {
  end_line(sink);
}

void LineSplitter::end_line(const Sink& sink) {
  state_ = State::text;
  if (!line_.empty()) {
    sink(line_);
    line_.clear();
  }
}

void LineSplitter::take(char byte) {
  if (take_escaped(byte)) {
    return;
  }
  if (line_.size() < longest_line) {
    line_ += byte;
  } else {
    has_cut_ = true;
  }
}

// Follows ECMA-48: ESC [ ... final, ESC ] ... BEL or ESC \ (window titles), and ESC with one byte.
bool LineSplitter::take_escaped(char byte) {
  switch (state_) {
    case State::text:
      if (byte != escape) {
        return false;
      }
      state_ = State::escape;
      return true;
    case State::escape:
      state_ = byte == '[' ? State::control : byte == ']' ? State::title : State::text;
      return true;
    case State::control:
      if (byte >= '@' && byte <= '~') {
        state_ = State::text;
      }
      return true;
    case State::title:
      state_ = byte == bell ? State::text : byte == escape ? State::title_escape : State::title;
      return true;
    case State::title_escape:
      state_ = State::text;
      return true;
  }
  return false;
}

}  // namespace zeus::run
