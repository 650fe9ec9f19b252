// The time and energy that a command takes: since its beginning, up to any moment. One window covers all of it; shorter
// ones, end to end, give the sum so far. One thread; the monitor outlives it.
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

  // Starts now. `uuid` names a GPU of the monitor.
  EnergyAccount(Monitor& monitor, std::function<std::string(int)> uuid);
  EnergyAccount(const EnergyAccount&) = delete;
  EnergyAccount& operator=(const EnergyAccount&) = delete;
  ~EnergyAccount();

  // The sum up to now, as far as it is known without waiting.
  const Taken& look();
  // The sum up to now, as exactly as possible. Ends the account; later calls return the same.
  const Taken& close();

 private:
  [[nodiscard]] Taken taken(const Measurement& measurement) const;

  Monitor& monitor_;
  std::function<std::string(int)> uuid_;
  Taken so_far_;
  bool open_ = true;
};

}  // namespace zeus::run
