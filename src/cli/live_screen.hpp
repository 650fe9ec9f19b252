// The terminal of `zeus monitor` and `zeus watch`: an alternate screen, and single key presses, while these objects
// live. Main thread only.
#pragma once

#include "base/clock.hpp"
#include "base/signal_wait.hpp"
#include "cli/monitor_keys.hpp"
#include "cli/text_columns.hpp"

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::cli {

// The current size of standard output's terminal.
Screen screen_of_terminal();

// The size for tables that are printed one below the other, because the output is a terminal that cannot be drawn on,
// or not a terminal.
std::optional<Screen> paper(bool is_terminal, bool colour);

// Output that adapts itself to the size of the screen.
struct Picture {
  std::function<std::string(const std::optional<Screen>&)> text;
  std::size_t rows = 0;                                    // that can be scrolled
  std::function<std::size_t(const Screen&)> rows_shown{};  // at the same time
};

// Its destructor restores the former contents of the terminal, with the last picture below.
class LiveScreen {
 public:
  // The stream must outlive it.
  LiveScreen(std::ostream& out, bool colour, bool keys);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen();

  void show(Picture picture);
  // Draws the picture again, for the terminal's current size.
  void draw();
  // Scrolls the picture.
  void scroll(MonitorKey key);

 private:
  std::ostream& out_;
  bool colour_;
  bool keys_;
  std::optional<Picture> picture_;
  std::size_t first_ = 0;
};

// Reads standard input key by key, without echo. Reads nothing if standard input is not a terminal, or if the terminal
// belongs to another job of the shell.
class Keyboard {
 public:
  Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;
  ~Keyboard();

  // A descriptor to wait on; -1 if no key can arrive.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The keys typed since the last call.
  [[nodiscard]] std::vector<MonitorKey> read();
  // Sets the terminal's mode again after the process was stopped and the shell used the terminal.
  void take();

 private:
  std::optional<termios> former_;
  int descriptor_ = -1;
};

// A terminal whose user watches and types.
class Viewer {
 public:
  Viewer(std::ostream& out, bool colour) : screen_{out, colour, keyboard_.descriptor() >= 0} {}

  void show(Picture picture) { screen_.show(std::move(picture)); }
  // Handles keys and resizes until the deadline. False if the user ends the program before.
  bool wait(const SignalWait& signals, const Clock& clock, Instant deadline);

 private:
  Keyboard keyboard_;
  LiveScreen screen_;
};

// When a picture is due: at each interval from the start on, and at the end, which comes after `duration` or when the
// user or a signal ends the program.
class Moments {
 public:
  // The clock must outlive it.
  Moments(const Clock& clock, Seconds interval, std::optional<Seconds> duration);

  [[nodiscard]] Instant start() const { return start_; }
  // Waits for the next one, meanwhile in the hands of `viewer` if there is one. False if it is the last.
  bool wait(Viewer* viewer);

 private:
  SignalWait signals_{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT};
  const Clock& clock_;
  Seconds interval_;
  Instant start_;
  Instant end_;
  int count_ = 0;
};

}  // namespace zeus::cli
