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

// The joules that a device has used since it was first watched.
struct WatchedEnergy {
  Joules joules;
  Instant from;  // on this machine's clock
  Instant to;
  int began_anew = 0;  // how often its counter did; the joules lack what was used just before each time
};

struct WatchedDevice {
  DeviceKind kind = DeviceKind::gpu;
  std::uint32_t id = 0;
  std::string uuid = {};  // of a GPU, where it is reported
  std::string name = {};
  std::optional<Watts> power = std::nullopt;
  std::optional<Watts> limit = std::nullopt;  // of a GPU, as enforced
  std::optional<WatchedEnergy> energy = std::nullopt;
  std::optional<std::string> holder = std::nullopt;  // of a GPU
  // Why there is no value.
  std::string power_reason = {};
  std::string limit_reason = {};
  std::string energy_reason = {};
  std::string holder_reason = {};
};

struct WatchedNode {
  std::string name;                     // as it was named on the command line
  std::optional<std::string> missing;   // why it is missing
  std::optional<Seconds> missing_for;   // since its last answer, or since the watch began
  std::optional<std::string> daemon;    // "zeusd 0.1.0", once it has answered
  std::optional<Seconds> clock_offset;  // by how much its wall clock is ahead of ours
  std::optional<Seconds> clock_doubt;   // half the round trip, which bounds the error of the offset
  std::optional<int> restarts;          // of its daemon, where that reports them
  std::vector<WatchedDevice> devices;   // a missing node's are as last seen, without power
};

struct WatchMoment {
  double time = 0;    // seconds since 1970
  Seconds monotonic;  // on this machine's monotonic clock
  Seconds elapsed;    // since the start
  std::vector<WatchedNode> nodes;
};

struct WatchSum {
  DeviceKind kind = DeviceKind::gpu;
  std::optional<Watts> power;        // of the known ones
  std::optional<Joules> energy;      // of missing nodes, up to their last answer
  std::vector<std::string> unknown;  // devices of present nodes whose power is not in the sum: "node:4938 GPU 1"
};

// "GPU 1", "CPU 0", "memory 0"
std::string device_name(const WatchedDevice& device);
// One for each kind of device that there is.
std::vector<WatchSum> sums_of(const WatchMoment& moment);
std::vector<std::string> missing_nodes(const WatchMoment& moment);

// One object on one line, without its end.
std::string watch_json(const WatchMoment& moment);

}  // namespace zeus::cli
