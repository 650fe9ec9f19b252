// What a command has taken of time and energy: from its beginning, and so far. One window covers it all; shorter ones,
// end to end, say what it comes to meanwhile. One thread; the monitor outlives it.
#pragma once

#include "jobs/try.hpp"

#include <zeus/energy.hpp>
#include <zeus/measure.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class EnergyAccount {
 public:
  using Taken = jobs::Try::Taken;

  // From now on. `uuid` names a GPU of the monitor.
  EnergyAccount(Monitor& monitor, std::function<std::string(int)> uuid);
  EnergyAccount(const EnergyAccount&) = delete;
  EnergyAccount& operator=(const EnergyAccount&) = delete;
  ~EnergyAccount();

  // Up to now, as far as it can be known at once.
  const Taken& look();
  // Up to now, as well as it can be known; ends the account, and says the same when asked again.
  const Taken& close();

 private:
  [[nodiscard]] Taken taken(const Measurement& measurement) const;

  Monitor& monitor_;
  std::function<std::string(int)> uuid_;
  Taken so_far_;
  bool open_ = true;
};

}  // namespace zeus::run
