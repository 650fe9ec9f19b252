// The power of a CPU package that counts only energy: the energy of a period divided by the period's actual length. Any
// reading will do, whichever client asked for it. The loop's thread; the reader outlives this object.
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

  // Answers after a period, or at once if the last reading is one period old and not much older.
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
  std::optional<protocol::CpuReadings> first_;  // of the present period
  std::vector<Waiting> waiting_;
  bool is_reading_ = false;
};

}  // namespace zeus::daemon
