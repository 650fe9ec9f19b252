// The state of a watched node. It takes the answers of the node's daemon, with the times of question and answer, and
// gives what is shown. Every joule is counted once, even if the daemon, a driver or the connection restarted between
// two answers. One thread at a time; never reads a clock.
#pragma once

#include "base/clock.hpp"
#include "cli/watch_view.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace zeus::cli {

// A counter as it was read.
struct CounterReading {
  Instant at;  // on the daemon's clock if NodeReadings has `daemon_now`, otherwise on ours
  Joules value;
  std::optional<Joules> wraps_at = std::nullopt;
  // Readings from one start of the daemon may only be subtracted if this is equal.
  std::uint64_t generation = 0;
  // When the counter began. Any two readings may only be subtracted if this is equal.
  std::optional<std::int64_t> began_ns = std::nullopt;
};

struct DeviceReading {
  WatchedDevice device;  // without energy and the power of CPU packages, which are counted here
  std::optional<CounterReading> counter = std::nullopt;
};

// One answer of a daemon.
struct NodeReadings {
  Instant asked;     // our clock
  Instant answered;  // our clock
  WallTime wall;     // ours, when it was answered
  std::string daemon;
  std::string instance;                              // empty where the daemon reports none
  std::optional<Instant> daemon_now = std::nullopt;  // the daemon's own clocks, as it answered
  std::optional<WallTime> daemon_wall = std::nullopt;
  std::vector<DeviceReading> devices = {};
};

// The joules of one counter since its first reading.
class CounterTally {
 public:
  // Ignores a reading that is no newer than the last one.
  void add(const CounterReading& reading, const std::string& instance);
  [[nodiscard]] const std::optional<WatchedEnergy>& energy() const { return energy_; }
  // The mean power between the last two readings.
  [[nodiscard]] std::optional<Watts> power() const { return power_; }

 private:
  [[nodiscard]] std::optional<Joules> used_until(const CounterReading& reading, const std::string& instance) const;

  CounterReading last_{};
  std::string instance_;
  std::optional<WatchedEnergy> energy_;
  std::optional<Watts> power_;
};

// The offset of another machine's clock, estimated from the quickest recent answer.
class ClockOffset {
 public:
  struct Sample {
    Instant at;      // our clock, when it was taken
    Seconds offset;  // by how much the other clock is ahead
    Seconds doubt;   // half the round trip
  };
  void add(const Sample& sample);
  void forget() { samples_.clear(); }
  [[nodiscard]] std::optional<Sample> best() const;

 private:
  std::vector<Sample> samples_;  // oldest first
};

class NodeTally {
 public:
  // A node that is silent for longer is missing.
  static constexpr Seconds longest_silence{2.5};

  NodeTally(std::string name, Instant begin) : name_{std::move(name)}, begin_{begin} {}

  void take(const NodeReadings& readings);
  // The node was asked and did not answer.
  void fail(std::string_view why);
  [[nodiscard]] WatchedNode node(Instant now) const;

 private:
  using Key = std::tuple<DeviceKind, std::string, std::uint32_t>;  // a GPU is known by its UUID, where it has one
  struct Device {
    WatchedDevice last;
    CounterTally tally;
  };

  std::string name_;
  Instant begin_;
  std::optional<Instant> answered_;
  std::optional<std::string> failure_;  // since the last answer
  std::string daemon_;
  std::string instance_;
  int restarts_ = 0;
  ClockOffset monotonic_;
  ClockOffset civil_;
  std::map<Key, Device> devices_;
};

}  // namespace zeus::cli
