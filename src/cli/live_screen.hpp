// A terminal on which `zeus monitor` and `zeus watch` are looked at: its own screen, and its keys one by one, for as
// long as these live. Main thread only.
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

// As large as standard output's terminal is now.
Screen screen_of_terminal();

// What one table after the other is fitted to: a terminal on which nothing can be drawn, or no terminal at all.
std::optional<Screen> paper(bool is_terminal, bool colour);

// What is shown, fitted to whatever screen there is.
struct Picture {
  std::function<std::string(const std::optional<Screen>&)> text;
  std::size_t rows = 0;                                    // that can be scrolled
  std::function<std::size_t(const Screen&)> rows_shown{};  // of them at once
};

// What was on the terminal before comes back after, and the last picture below it.
class LiveScreen {
 public:
  // The stream outlives it.
  LiveScreen(std::ostream& out, bool colour, bool keys);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen();

  void show(Picture picture);
  // What is shown once more, fitted to the terminal as it is now.
  void draw();
  // Other rows of it.
  void scroll(MonitorKey key);

 private:
  std::ostream& out_;
  bool colour_;
  bool keys_;
  std::optional<Picture> picture_;
  std::size_t first_ = 0;
};

// Standard input key by key and unseen; nothing where it is no terminal, or one that belongs to another job's process.
class Keyboard {
 public:
  Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;
  ~Keyboard();

  // What can be waited for; -1 where there is nothing to come.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The keys that were typed.
  [[nodiscard]] std::vector<MonitorKey> read();
  // Once more, after the process was stopped and a shell had the terminal.
  void take();

 private:
  std::optional<termios> former_;
  int descriptor_ = -1;
};

// How a wait has ended.
enum class Woken { by_time, by_resize, by_return, by_keys, by_end };

// The signals that would end the program, or tell of a terminal's new size, end a wait instead; keys do, too.
Woken wait_until(const SignalWait& signals, const Keyboard* keyboard, const Clock& clock, Instant deadline);

// A terminal that somebody looks at, and types on.
class Viewer {
 public:
  Viewer(std::ostream& out, bool colour) : screen_{out, colour, keyboard_.descriptor() >= 0} {}

  void show(Picture picture) { screen_.show(std::move(picture)); }
  // Sees to whatever comes meanwhile, and returns at the deadline, or earlier when the end is wanted.
  Woken wait(const SignalWait& signals, const Clock& clock, Instant deadline);

 private:
  Keyboard keyboard_;
  LiveScreen screen_;
};

}  // namespace zeus::cli
