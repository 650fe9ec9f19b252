// How long one waits for a server: a time, or a few seconds from when somebody wants it to end. One thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <algorithm>
#include <functional>

namespace zeus::remote_jobs {

class Patience {
 public:
  // `hurry` says whether somebody wants it to end; it outlives this.
  Patience(const Clock& clock, Seconds patience, const std::function<bool()>& hurry)
      : clock_{clock}, hurry_{hurry}, until_{clock.now() + patience} {}

  [[nodiscard]] bool is_over() {
    const Instant now = clock_.now();
    if (!hurried_ && hurry_()) {
      hurried_ = true;
      until_ = std::min(until_, now + in_a_hurry);
    }
    return now >= until_;
  }

 private:
  static constexpr Seconds in_a_hurry{3};

  const Clock& clock_;
  const std::function<bool()>& hurry_;
  Instant until_;
  bool hurried_ = false;
};

}  // namespace zeus::remote_jobs
