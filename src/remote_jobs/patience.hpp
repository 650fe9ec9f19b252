// How long to wait for a server: a time, or a few seconds from when the user wants to stop. One thread.
#pragma once

#include "base/clock.hpp"
#include "remote_jobs/service_client.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace zeus::remote_jobs {

class Patience {
 public:
  static constexpr Seconds a_little{3};

  // `hurry` says whether the user wants to stop, which ends the wait `in_a_hurry` later; it outlives this object.
  // `tell` is called once, when the wait has taken a while.
  Patience(const Clock& clock, Seconds patience, const std::function<bool()>& hurry, Seconds in_a_hurry = a_little,
           std::function<void()> tell = {})
      : clock_{clock},
        hurry_{hurry},
        in_a_hurry_{in_a_hurry},
        tell_{std::move(tell)},
        tells_{clock.now() + a_while},
        until_{clock.now() + patience} {}

  // Call it repeatedly while waiting.
  [[nodiscard]] bool is_over() {
    const Instant now = clock_.now();
    if (tell_ && now >= tells_) {
      std::exchange(tell_, nullptr)();
    }
    if (!hurried_ && hurry_()) {
      hurried_ = true;
      until_ = std::min(until_, now + in_a_hurry_);
    }
    return now >= until_;
  }

 private:
  static constexpr Seconds a_while{2};

  const Clock& clock_;
  const std::function<bool()>& hurry_;
  Seconds in_a_hurry_;
  std::function<void()> tell_;
  Instant tells_;
  Instant until_;
  bool hurried_ = false;
};

// Asks again for a few seconds while the server is away, as during a restart. The question must mean the same each
// time.
template <typename Question>
auto patiently(Clock& clock, const std::function<bool()>& hurry, const Question& question) {
  constexpr Seconds between_questions{0.2};
  Patience left{clock, Patience::a_little, hurry, Seconds{}};
  while (true) {
    try {
      return question();
    } catch (const Error& error) {
      if (!is_passing(error) || left.is_over()) {
        throw;
      }
    }
    clock.sleep_until(clock.now() + between_questions);
  }
}

}  // namespace zeus::remote_jobs
