// How a command that has to end is made to: it is asked, and given time to save what it has; then it is killed.
// A pure state machine; one thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::run {

class Termination {
 public:
  explicit Termination(Seconds grace) : grace_{grace} {}

  // From now on the command has to end; once is enough.
  void begin(Instant now);
  // As begin(), but somebody else has asked it already.
  void begin_asked(Instant now);
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] bool begun() const { return begun_.has_value(); }
  // The signal that is due now; each one once.
  [[nodiscard]] std::optional<int> due(Instant now);
  // When to ask again; nothing before it has begun, and after the last signal.
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  Seconds grace_;
  std::optional<Instant> begun_;
  bool asked_ = false;
  bool killed_ = false;
};

}  // namespace zeus::run
