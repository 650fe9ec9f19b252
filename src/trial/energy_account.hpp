// The time and energy that a training takes, from its beginning until now. One window covers all of it; shorter ones,
// end to end, give the sum so far. One thread; the meter outlives it.
#pragma once

#include "jobs/try.hpp"

#include <string>
#include <string_view>

namespace zeus::trial {

// Windows over the GPUs of a training, by name.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  virtual void begin(std::string_view window) = 0;
  // As far as it is known at once.
  virtual jobs::Try::Taken end(std::string_view window) = 0;
  // As exactly as possible, for which it may wait a second.
  virtual jobs::Try::Taken settle(std::string_view window) = 0;
  // Does nothing if there is no such window any more.
  virtual void cancel(std::string_view window) noexcept = 0;
};

class EnergyAccount {
 public:
  using Taken = jobs::Try::Taken;

  // Begins now. Accounts that are open at the same time have different names.
  explicit EnergyAccount(Meter& meter, std::string_view name = "zeus.trial.training");
  EnergyAccount(const EnergyAccount&) = delete;
  EnergyAccount& operator=(const EnergyAccount&) = delete;
  ~EnergyAccount();

  // The sum up to now, as far as it is known without waiting.
  const Taken& look();
  // The sum up to now, as exactly as possible. Ends the account; later calls return the same.
  const Taken& close();

 private:
  Meter& meter_;
  std::string whole_window_;
  std::string part_window_;
  Taken so_far_;
  bool open_ = true;
};

}  // namespace zeus::trial
