// How a command is made to end: it is asked, gets time to save its state, and is then killed. A pure state machine; one
// thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::run {

class Termination {
 public:
  explicit Termination(Seconds grace) : grace_{grace} {}

  // The command has to end from now on. Later calls change nothing.
  void begin(Instant now);
  // As begin(), if another process has already asked the command to end.
  void begin_asked(Instant now);
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] bool begun() const { return begun_.has_value(); }
  // The signal that is due now; each is returned once.
  [[nodiscard]] std::optional<int> due(Instant now);
  // When to ask again; empty before it has begun and after the last signal.
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  Seconds grace_;
  std::optional<Instant> begun_;
  bool asked_ = false;
  bool killed_ = false;
};

}  // namespace zeus::run
