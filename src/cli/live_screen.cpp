#include "cli/live_screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <ostream>

namespace zeus::cli {

Screen screen_of_terminal() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  // The last row is left free: a line's end there would scroll.
  return known ? Screen{.columns = size.ws_col, .rows = size.ws_row - 1} : Screen{};
}

LiveScreen::LiveScreen(std::ostream& out, bool colour, bool keys) : out_{out}, colour_{colour}, keys_{keys} {
  out_ << "\x1b[?1049h\x1b[?25l";
}

LiveScreen::~LiveScreen() {
  Screen whole = screen_of_terminal();
  whole.rows = all_rows;
  whole.colour = colour_;
  out_ << "\x1b[?25h\x1b[?1049l" << (moment_ ? moment_table(*moment_, whole) : "") << std::flush;
}

void LiveScreen::show(const MonitorMoment& moment) {
  moment_ = moment;
  draw();
}

void LiveScreen::draw() {
  if (!moment_) {
    return;
  }
  Screen screen = screen_of_terminal();
  screen.colour = colour_;
  screen.keys = keys_;
  screen.first_gpu = first_;
  // Over the former picture, without clearing it first: nothing flickers.
  out_ << "\x1b[H";
  for (const char c : moment_table(*moment_, screen)) {
    if (c == '\n') {
      out_ << "\x1b[K";
    }
    out_ << c;
  }
  out_ << "\x1b[J" << std::flush;
}

void LiveScreen::scroll(MonitorKey key) {
  if (moment_) {
    first_ = scrolled(first_, key, moment_->gpus.size(), gpu_rows(*moment_, screen_of_terminal()));
    draw();
  }
}

Keyboard::Keyboard() {
  // A process in the background that changes the terminal would be stopped.
  if (termios now{};
      ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() && ::tcgetattr(STDIN_FILENO, &now) == 0) {
    former_ = now;
    descriptor_ = STDIN_FILENO;
    take();
  }
}

Keyboard::~Keyboard() {
  if (former_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) {
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*former_);
  }
}

void Keyboard::take() {
  if (former_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) {
    termios unseen = *former_;
    // Signals stay: Ctrl-C and Ctrl-Z do what they always do.
    unseen.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    unseen.c_cc[VMIN] = 1;
    unseen.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &unseen);
  }
}

std::vector<MonitorKey> Keyboard::read() {
  std::array<char, 256> typed{};
  const ssize_t length = ::read(descriptor_, typed.data(), typed.size());
  if (length <= 0) {
    descriptor_ = -1;  // the terminal is gone
    return {};
  }
  return keys_in({typed.data(), static_cast<std::size_t>(length)});
}

}  // namespace zeus::cli
