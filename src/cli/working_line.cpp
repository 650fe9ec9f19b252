#include "cli/working_line.hpp"

#include "base/background_thread.hpp"
#include "command_line/terminal_style.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace zeus::cli {

namespace {

constexpr std::string_view clear_line = "\r\033[K";
constexpr Seconds silence_at_first{2};
constexpr Seconds between_drawings{1};
// Updates that come faster than a person can read are drawn this often.
constexpr Seconds readable{0.1};
constexpr std::size_t usual_columns = 80;

std::size_t columns_of_terminal() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  // The last column stays free: some terminals would go on to the next row.
  return (known ? size.ws_col : usual_columns) - 1;
}

}  // namespace

bool has_working_line(const Environment& environment) {
  return command_line::terminal_style("auto", environment, ::isatty(STDERR_FILENO) != 0).live;
}

WorkingLine::WorkingLine(std::ostream& err, Clock& clock, bool live)
    : WorkingLine{err, clock, live, columns_of_terminal} {
}

WorkingLine::WorkingLine(std::ostream& err, Clock& clock, bool live, Columns columns)
    : err_{err}, clock_{clock}, columns_{std::move(columns)}, began_{clock.now()} {
  if (live) {
    drawer_ = background_thread([this] { keep(); });
  }
}

WorkingLine::~WorkingLine() {
  if (!drawer_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
    erase();
  }
  woken_.notify_all();
  drawer_.join();
}

void WorkingLine::show(std::string_view doing) {
  const std::lock_guard lock{mutex_};
  doing_ = doing;
  const Instant now = clock_.now();
  if (due_ && now - drawn_at_ >= readable) {
    draw(now);
  }
}

void WorkingLine::print(std::string_view line) {
  const std::lock_guard lock{mutex_};
  erase();
  err_ << line << '\n' << std::flush;
}

void WorkingLine::keep() {
  std::unique_lock lock{mutex_};
  Instant next = began_ + silence_at_first;
  while (!over_) {
    const Instant now = clock_.now();
    if (now >= next) {
      due_ = true;
      draw(now);
      next = now + between_drawings;
    }
    clock_.wait_until(lock, woken_, next);
  }
}

void WorkingLine::draw(Instant now) {
  if (doing_.empty()) {
    return;
  }
  std::string line = fmt::format("{} ({:.0f} s)", doing_, (now - began_).value());
  line.resize(std::min(line.size(), columns_()));
  // In one write, so that no one sees half a line.
  err_ << std::string{clear_line} + line << std::flush;
  drawn_ = true;
  drawn_at_ = now;
}

void WorkingLine::erase() {
  if (std::exchange(drawn_, false)) {
    err_ << clear_line << std::flush;
  }
}

}  // namespace zeus::cli
