// Requests that are sent to a served model while it is measured. One thread calls it.
#pragma once

#include "serving/answer.hpp"

#include <cstdint>
#include <vector>

namespace zeus::serving {

class Traffic {
 public:
  struct Progress {
    std::uint64_t sent = 0;
    std::uint64_t ended = 0;
  };

  Traffic() = default;
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  virtual ~Traffic() = default;

  // Every request has ended, or so many have failed in a row that it sends no more.
  [[nodiscard]] virtual bool is_over() const = 0;
  [[nodiscard]] virtual bool has_given_up() const = 0;
  [[nodiscard]] virtual Progress progress() const = 0;
  // Sends no more, and leaves what is under way unfinished; then it is over.
  virtual void stop() = 0;
  // All that were sent, in this order; once it is over.
  [[nodiscard]] virtual std::vector<Answer> take_answers() = 0;
};

// The `failure` of an answer that stop() cut: no fault of the server.
inline constexpr const char* unfinished = "unfinished";

}  // namespace zeus::serving
