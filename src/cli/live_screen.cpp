#include "cli/live_screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <limits>
#include <ostream>
#include <variant>

namespace zeus::cli {

namespace {

// The reason why a wait ended.
enum class Woken { by_time, by_resize, by_return, by_keys, by_end };

// Waits for a key, for a signal that ends the program or reports a new size of the terminal, or for the deadline.
Woken wait_until(const SignalWait& signals, const Keyboard* keyboard, const Clock& clock, Instant deadline) {
  while (true) {
    const Seconds left = deadline - clock.now();
    if (left <= Seconds{0}) {
      return Woken::by_time;
    }
    const auto woken = signals.wait_for(left, keyboard != nullptr ? keyboard->descriptor() : -1);
    if (const int* const signal = std::get_if<int>(&woken)) {
      return *signal == SIGWINCH ? Woken::by_resize : *signal == SIGCONT ? Woken::by_return : Woken::by_end;
    }
    if (std::holds_alternative<SignalWait::Input>(woken)) {
      return Woken::by_keys;
    }
  }
}

}  // namespace

Screen screen_of_terminal() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  // The last row stays free: the end of a line there would scroll the screen.
  return known ? Screen{.columns = size.ws_col, .rows = size.ws_row - 1} : Screen{};
}

std::optional<Screen> paper(bool is_terminal, bool colour) {
  constexpr int wide = 160;
  if (!is_terminal && !colour) {
    return std::nullopt;
  }
  return Screen{
      .columns = is_terminal ? screen_of_terminal().columns : wide, .rows = all_rows, .colour = colour, .bars = colour};
}

LiveScreen::LiveScreen(std::ostream& out, bool colour, bool keys) : out_{out}, colour_{colour}, keys_{keys} {
  out_ << "\x1b[?1049h\x1b[?25l";
}

LiveScreen::~LiveScreen() {
  Screen whole = screen_of_terminal();
  whole.rows = all_rows;
  whole.colour = colour_;
  out_ << "\x1b[?25h\x1b[?1049l" << (picture_ ? picture_->text(whole) : "") << std::flush;
}

void LiveScreen::show(Picture picture) {
  picture_ = std::move(picture);
  draw();
}

void LiveScreen::draw() {
  if (!picture_) {
    return;
  }
  Screen screen = screen_of_terminal();
  screen.colour = colour_;
  screen.keys = keys_;
  screen.first_row = first_;
  // Drawn over the previous picture without clearing it, so that nothing flickers.
  out_ << "\x1b[H";
  for (const char c : picture_->text(screen)) {
    if (c == '\n') {
      out_ << "\x1b[K";
    }
    out_ << c;
  }
  out_ << "\x1b[J" << std::flush;
}

void LiveScreen::scroll(MonitorKey key) {
  if (picture_ && picture_->rows_shown) {
    first_ = scrolled(first_, key, picture_->rows, picture_->rows_shown(screen_of_terminal()));
    draw();
  }
}

Keyboard::Keyboard() {
  // The system would stop a background process that changes the terminal.
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
    // The terminal's signals stay on: Ctrl-C and Ctrl-Z work as always.
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

bool Viewer::wait(const SignalWait& signals, const Clock& clock, Instant deadline) {
  while (true) {
    switch (wait_until(signals, &keyboard_, clock, deadline)) {
      case Woken::by_time:
        return true;
      case Woken::by_end:
        return false;
      case Woken::by_return:
        keyboard_.take();
        [[fallthrough]];
      case Woken::by_resize:
        screen_.draw();
        break;
      case Woken::by_keys:
        for (const MonitorKey key : keyboard_.read()) {
          if (key == MonitorKey::quit) {
            return false;
          }
          screen_.scroll(key);
        }
        break;
    }
  }
}

Moments::Moments(const Clock& clock, Seconds interval, std::optional<Seconds> duration)
    : clock_{clock},
      interval_{interval},
      start_{clock.now()},
      end_{duration ? start_ + *duration : Instant{std::numeric_limits<std::int64_t>::max()}} {
}

bool Moments::wait(Viewer* viewer) {
  const Instant next = std::min(end_, start_ + interval_ * ++count_);
  if (viewer != nullptr) {
    return viewer->wait(signals_, clock_, next) && next < end_;
  }
  Woken woken = Woken::by_resize;
  while (woken != Woken::by_time && woken != Woken::by_end) {
    woken = wait_until(signals_, nullptr, clock_, next);
  }
  return woken == Woken::by_time && next < end_;
}

}  // namespace zeus::cli
