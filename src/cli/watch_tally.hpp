// What is known of a node that is watched: answers of its daemon go in, with the times at which they were asked for and
// came, and out comes what is shown. Every joule is counted once, whatever daemon, driver or connection did between two
// answers. One thread at a time; asks for no time.
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
  Instant at;  // on the daemon's clock, where NodeReadings has `daemon_now`; else on ours
  Joules value;
  std::optional<Joules> wraps_at = std::nullopt;
  // Readings of one start of the daemon that differ in this are not to be subtracted.
  std::uint64_t generation = 0;
  // Likewise, of any starts: since when the counter has gone on.
  std::optional<std::int64_t> began_ns = std::nullopt;
};

struct DeviceReading {
  WatchedDevice device;  // without energy, which is counted here; power of CPU packages likewise
  std::optional<CounterReading> counter = std::nullopt;
};

// One answer.
struct NodeReadings {
  Instant asked;     // our clock
  Instant answered;  // our clock
  WallTime wall;     // ours, when it was answered
  std::string daemon;
  std::string instance;                              // empty where the daemon tells none
  std::optional<Instant> daemon_now = std::nullopt;  // while it answered, its own clocks
  std::optional<WallTime> daemon_wall = std::nullopt;
  std::vector<DeviceReading> devices = {};
};

// The joules of one counter since its first reading.
class CounterTally {
 public:
  // A reading that is no newer than the last is passed over.
  void add(const CounterReading& reading, const std::string& instance);
  [[nodiscard]] const std::optional<WatchedEnergy>& energy() const { return energy_; }
  // The mean between the two last readings.
  [[nodiscard]] std::optional<Watts> power() const { return power_; }

 private:
  [[nodiscard]] std::optional<Joules> used_until(const CounterReading& reading, const std::string& instance) const;

  CounterReading last_{};
  std::string instance_;
  std::optional<WatchedEnergy> energy_;
  std::optional<Watts> power_;
};

// Another machine's clock against ours, by questions that took some time: the quickest of late says most.
class ClockOffset {
 public:
  struct Sample {
    Instant at;      // ours, when it was taken
    Seconds offset;  // of the other clock before ours
    Seconds doubt;   // half the time there and back
  };
  void add(const Sample& sample);
  void forget() { samples_.clear(); }
  [[nodiscard]] std::optional<Sample> best() const;

 private:
  std::vector<Sample> samples_;  // the oldest first
};

class NodeTally {
 public:
  // A node that says nothing for longer is missing.
  static constexpr Seconds longest_silence{2.5};

  NodeTally(std::string name, Instant begin) : name_{std::move(name)}, begin_{begin} {}

  void take(const NodeReadings& readings);
  // It was asked, and there was no answer.
  void fail(std::string_view why);
  [[nodiscard]] WatchedNode node(Instant now) const;

 private:
  using Key = std::tuple<DeviceKind, std::string, std::uint32_t>;  // a GPU is known by its UUID, where it is told
  struct Device {
    WatchedDevice last;
    CounterTally tally;
  };

  std::string name_;
  Instant begin_;
  std::optional<Instant> answered_;
  std::optional<std::string> failure_;  // since then
  std::string daemon_;
  std::string instance_;
  int restarts_ = 0;
  ClockOffset monotonic_;
  ClockOffset civil_;
  std::map<Key, Device> devices_;
};

}  // namespace zeus::cli
