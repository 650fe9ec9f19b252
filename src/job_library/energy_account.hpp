// What a training has taken of time and energy: from its beginning, and so far, by the GPUs of a monitor. One window
// covers it all; shorter ones, end to end, say what it comes to meanwhile. One thread; what it is given outlives it.
#pragma once

#include "jobs/try.hpp"

#include <zeus/measure.hpp>

#include <map>
#include <string>

namespace zeus::job_library {

class EnergyAccount {
 public:
  using Taken = jobs::Try::Taken;

  // From now on. `uuids` are those of the monitor's GPUs.
  EnergyAccount(Monitor& monitor, const std::map<int, std::string>& uuids);
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
  const std::map<int, std::string>& uuids_;
  Taken so_far_;
  bool open_ = true;
};

}  // namespace zeus::job_library
