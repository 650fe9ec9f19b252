// Waits that signals end. While a SignalWait lives, its signals are blocked in the thread that made it, and end that
// thread's waits instead of having their usual effect. Used on the thread that made it.
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

  // The signal that came; nothing if the time was up first, or another signal's handler ran.
  [[nodiscard]] std::optional<int> wait_for(Seconds patience) const;

  enum class Input { there_is_some };
  // As above, but input on the descriptor ends the wait too. -1 stands for no descriptor.
  [[nodiscard]] std::variant<std::monostate, int, Input> wait_for(Seconds patience, int descriptor) const;

 private:
  sigset_t signals_{};
  sigset_t former_{};
};

}  // namespace zeus
