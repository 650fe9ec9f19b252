// The terminal of `zeus monitor` and `zeus watch`: a screen of its own, and keys one by one, for as long as these
// objects live. Main thread only.
#pragma once

#include "base/clock.hpp"
#include "base/signal_wait.hpp"
#include "cli/monitor_keys.hpp"
#include "cli/text_columns.hpp"

#include <termios.h>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::cli {

// The size of standard output's terminal now.
Screen screen_of_terminal();

// What one table after the other is fitted to: a terminal that cannot be drawn on, or no terminal at all.
std::optional<Screen> paper(bool is_terminal, bool colour);

// Something to show, which fits itself to the size of the screen.
struct Picture {
  std::function<std::string(const std::optional<Screen>&)> text;
  std::size_t rows = 0;                                    // that can be scrolled
  std::function<std::size_t(const Screen&)> rows_shown{};  // at once
};

// At its end, what was on the terminal before comes back, with the last picture below it.
class LiveScreen {
 public:
  // The stream must outlive it.
  LiveScreen(std::ostream& out, bool colour, bool keys);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen();

  void show(Picture picture);
  // Draws it again, fitted to the terminal's size now.
  void draw();
  // Moves to other rows of it.
  void scroll(MonitorKey key);

 private:
  std::ostream& out_;
  bool colour_;
  bool keys_;
  std::optional<Picture> picture_;
  std::size_t first_ = 0;
};

// Standard input key by key, without echo. It reads nothing where standard input is no terminal, or where the terminal
// belongs to another job of the shell.
class Keyboard {
 public:
  Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;
  ~Keyboard();

  // A descriptor to wait on; -1 where no key can come.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The keys typed since the last call.
  [[nodiscard]] std::vector<MonitorKey> read();
  // Sets the terminal again, after the process was stopped and the shell had used it.
  void take();

 private:
  std::optional<termios> former_;
  int descriptor_ = -1;
};

// What ended a wait.
enum class Woken { by_time, by_resize, by_return, by_keys, by_end };

// Keys end a wait; so do the signals that would end the program or that report another size of the terminal.
Woken wait_until(const SignalWait& signals, const Keyboard* keyboard, const Clock& clock, Instant deadline);

// A terminal with a user who looks and types.
class Viewer {
 public:
  Viewer(std::ostream& out, bool colour) : screen_{out, colour, keyboard_.descriptor() >= 0} {}

  void show(Picture picture) { screen_.show(std::move(picture)); }
  // Handles keys and resizes meanwhile. Returns at the deadline, or earlier when the user wants to end.
  Woken wait(const SignalWait& signals, const Clock& clock, Instant deadline);

 private:
  Keyboard keyboard_;
  LiveScreen screen_;
};

}  // namespace zeus::cli
