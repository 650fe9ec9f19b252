// The time and energy that a training takes, from its beginning until now, on the GPUs of a monitor. One window covers
// it all; shorter ones, end to end, give the sum so far. One thread; what it is given outlives it.
#pragma once

#include "jobs/try.hpp"

#include <zeus/measure.hpp>

#include <map>
#include <string>

namespace zeus::job_library {

class EnergyAccount {
 public:
  using Taken = jobs::Try::Taken;

  // Begins now. `uuids` are those of the monitor's GPUs.
  EnergyAccount(Monitor& monitor, const std::map<int, std::string>& uuids);
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
  const std::map<int, std::string>& uuids_;
  Taken so_far_;
  bool open_ = true;
};

}  // namespace zeus::job_library
