// Waits that signals can end. While a SignalWait exists, its signals are blocked in the thread that created it, and end
// that thread's waits instead of having their usual effect. Use it only on that thread.
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

  // The signal that arrived; nothing if the time was up first, or if the handler of another signal ran.
  [[nodiscard]] std::optional<int> wait_for(Seconds patience) const;

  enum class Input { there_is_some };
  // The same, but input on the descriptor ends the wait too. -1 means no descriptor.
  [[nodiscard]] std::variant<std::monostate, int, Input> wait_for(Seconds patience, int descriptor) const;

 private:
  sigset_t signals_{};
  sigset_t former_{};
};

}  // namespace zeus
