// What `zeus watch` shows of one moment, its sums, and its form for programs (watch_table.hpp has those for people).
// Pure functions and plain values; any thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

enum class DeviceKind { gpu, cpu, memory };

// Joules that a device has used while it was watched.
struct WatchedEnergy {
  Joules joules;
  Instant from;  // on this machine's clock
  Instant to;
  int began_anew = 0;  // how often its counter did: what was used just before each is not in the joules
};

struct WatchedDevice {
  DeviceKind kind = DeviceKind::gpu;
  std::uint32_t id = 0;
  std::string uuid = {};  // a GPU's, where it is told
  std::string name = {};
  std::optional<Watts> power = std::nullopt;
  std::optional<Watts> limit = std::nullopt;  // a GPU's, as it is enforced
  std::optional<WatchedEnergy> energy = std::nullopt;
  std::optional<std::string> holder = std::nullopt;  // of a GPU
  // Why there is none.
  std::string power_reason = {};
  std::string limit_reason = {};
  std::string energy_reason = {};
  std::string holder_reason = {};
};

struct WatchedNode {
  std::string name;                     // as it was named on the command line
  std::optional<std::string> missing;   // why it is
  std::optional<Seconds> missing_for;   // since its last answer, or since it is watched
  std::optional<std::string> daemon;    // "zeusd 0.1.0", once it has answered
  std::optional<Seconds> clock_offset;  // of its civil time before ours
  std::optional<Seconds> clock_doubt;   // of which so much may be the way there and back
  std::optional<int> restarts;          // of its daemon, where that tells them
  std::vector<WatchedDevice> devices;   // those of a missing node are as they were, without power
};

struct WatchMoment {
  double time = 0;    // seconds since 1970
  Seconds monotonic;  // on this machine's monotonic clock
  Seconds elapsed;    // since the start
  std::vector<WatchedNode> nodes;
};

struct WatchSum {
  DeviceKind kind = DeviceKind::gpu;
  std::optional<Watts> power;        // of what is known
  std::optional<Joules> energy;      // that of missing nodes up to their last answer
  std::vector<std::string> unknown;  // whose power is not in it though their node is there: "node:4938 GPU 1"
};

// "GPU 1", "CPU 0", "memory 0"
std::string device_name(const WatchedDevice& device);
// Of the kinds that there are.
std::vector<WatchSum> sums_of(const WatchMoment& moment);
std::vector<std::string> missing_nodes(const WatchMoment& moment);

// One object on one line, without its end.
std::string watch_json(const WatchMoment& moment);

}  // namespace zeus::cli
