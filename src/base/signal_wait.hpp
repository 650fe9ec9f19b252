// Waiting that signals end: while a SignalWait lives, the signals it is made for are blocked in the thread that made
// it, and end that thread's waits in the place of what they usually do. Used on the thread that made it.
#pragma once

#include <zeus/units.hpp>

#include <csignal>
#include <initializer_list>
#include <optional>
#include <variant>

namespace zeus {

class SignalWait {
 public:
  SignalWait(std::initializer_list<int> signals);
  SignalWait(const SignalWait&) = delete;
  SignalWait& operator=(const SignalWait&) = delete;
  ~SignalWait();

  // The signal that came; nothing when the time was up before, or another signal's handler ran.
  [[nodiscard]] std::optional<int> wait_for(Seconds patience) const;

  enum class Input { there_is_some };
  // As above, and something to be read from the descriptor ends it too. There is none where it is -1.
  [[nodiscard]] std::variant<std::monostate, int, Input> wait_for(Seconds patience, int descriptor) const;

 private:
  sigset_t signals_{};
  sigset_t former_{};
};

}  // namespace zeus
