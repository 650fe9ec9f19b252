// For how long all threads of a process stood still, because it was suspended. It is told from the turns of one
// thread: a turn came a second late or more, and meanwhile the process used next to no processor time. On a busy
// machine turns come late, too, but then other threads have had the processor. One thread marks its turns; any thread
// asks.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <mutex>
#include <optional>

namespace zeus::measure {

class Stillness {
 public:
  // What comes late by less is not told.
  static constexpr Seconds least{1.0};

  explicit Stillness(int processors) : processors_{processors} {}

  // A turn begins or ends: the next mark is due then; `used` is the processor time of the whole process so far.
  void mark(Instant now, Instant due, Seconds used);
  // No mark is due any more.
  void rest();

  // Since it was made. Counts a mark that is late now.
  [[nodiscard]] Seconds total(Instant now, Seconds used) const;

 private:
  struct Mark {
    Instant at;
    Instant due;
    Seconds used;
  };

  [[nodiscard]] Seconds late(Instant now, Seconds used) const;

  int processors_;
  mutable std::mutex mutex_;
  std::optional<Mark> last_;
  Seconds total_;
};

}  // namespace zeus::measure
