// What Zeus reports beside its results: one line each, to stderr unless an embedding program takes the lines over. Any
// thread may log at any time; the sink is called by one thread at a time. Hot paths do not log.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace zeus::log {

enum class Level { debug, info, warning, error };

using Sink = std::function<void(Level, std::string_view)>;

void debug(std::string_view line);
void info(std::string_view line);
void warning(std::string_view line);
void error(std::string_view line);

// Lines below this level go nowhere; `warning` until set.
void set_level(Level level);

// Replaces the destination of lines; an empty sink restores stderr. The former sink is not called any more once this
// returns.
void set_sink(Sink sink);

// For tests and embedders: takes the lines while it lives, and restores stderr after that.
class ScopedSink {
 public:
  explicit ScopedSink(Sink sink) { set_sink(std::move(sink)); }
  ScopedSink(const ScopedSink&) = delete;
  ScopedSink& operator=(const ScopedSink&) = delete;
  ~ScopedSink() { set_sink({}); }
};

}  // namespace zeus::log
