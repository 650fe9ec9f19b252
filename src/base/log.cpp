#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace zeus::log {

namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

struct Log {
  std::atomic<Level> level{Level::warning};
  std::mutex mutex;
  Sink sink;
  spdlog::logger terminal{"zeus", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};

  Log() {
    terminal.set_pattern("zeus: %^%l%$: %v");
    terminal.set_level(spdlog::level::trace);
  }

  void write(Level line_level, std::string_view line) {
    if (line_level < level.load(std::memory_order_relaxed)) {
      return;
    }
    const std::lock_guard guard{mutex};
    if (sink) {
      sink(line_level, line);
    } else {
      terminal.log(to_spdlog(line_level), line);
    }
  }
};

// Never destroyed: threads and destructors of statics may still log while the process ends.
Log& the_log() {
  static Log* const log = new Log;
  return *log;
}

}  // namespace

void debug(std::string_view line) {
  the_log().write(Level::debug, line);
}
void info(std::string_view line) {
  the_log().write(Level::info, line);
}
void warning(std::string_view line) {
  the_log().write(Level::warning, line);
}
void error(std::string_view line) {
  the_log().write(Level::error, line);
}

void set_level(Level level) {
  the_log().level.store(level, std::memory_order_relaxed);
}

void set_sink(Sink sink) {
  Log& log = the_log();
  const std::lock_guard guard{log.mutex};
  log.sink = std::move(sink);
}

}  // namespace zeus::log
