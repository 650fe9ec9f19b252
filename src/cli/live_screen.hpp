// A terminal on which `zeus monitor` is looked at: its own screen, and its keys one by one, for as long as these live.
// Main thread only.
#pragma once

#include "cli/monitor_keys.hpp"
#include "cli/monitor_table.hpp"
#include "cli/monitor_view.hpp"

#include <termios.h>

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

// As large as standard output's terminal is now.
Screen screen_of_terminal();

// What was on the terminal before comes back after, and the last picture below it.
class LiveScreen {
 public:
  // The stream outlives it.
  LiveScreen(std::ostream& out, bool colour, bool keys);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen();

  void show(const MonitorMoment& moment);
  // What is shown once more, fitted to the terminal as it is now.
  void draw();
  // Other rows of it.
  void scroll(MonitorKey key);

 private:
  std::ostream& out_;
  bool colour_;
  bool keys_;
  std::optional<MonitorMoment> moment_;
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

}  // namespace zeus::cli
