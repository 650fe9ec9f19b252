// The power of one CPU package, of which only energy is counted: what was counted over a period, by how long that took
// in fact. Readings that anybody took for another reason serve as well. The loop's thread; the reader outlives this.
#pragma once

#include "daemon/cpu_reader.hpp"
#include "daemon/refused.hpp"
#include "protocol/device_bodies.hpp"

#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace zeus::daemon {

class CpuPowerMeter {
 public:
  using Answer = std::variant<protocol::CpuPower, Refused>;

  CpuPowerMeter(Loop& loop, CpuReader& reader, Seconds period);

  // Answers after a period, or at once where the last reading is as old as one and not much older.
  void ask(std::function<void(Answer)> done);
  void tick(Instant now);

 private:
  struct Waiting {
    Instant due;
    std::function<void(Answer)> done;
  };
  void read();
  void take(CpuReader::End end, const protocol::CpuReadings& readings);

  Loop& loop_;
  CpuReader& reader_;
  Seconds period_;
  std::optional<protocol::CpuReadings> first_;  // of the period under way
  std::vector<Waiting> waiting_;
  bool is_reading_ = false;
};

}  // namespace zeus::daemon
