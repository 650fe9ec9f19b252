// A training that a recurrence runs: a command that is watched, or the demo's network. jobs::Driver starts it, sets its
// limits and ends it as the job says; each implementation sets and measures limits in its own way. One thread.
#pragma once

#include "records/job_entry.hpp"
#include "records/limit_profile.hpp"

#include <zeus/energy.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::jobs {

class Try {
 public:
  Try() = default;
  Try(const Try&) = delete;
  Try& operator=(const Try&) = delete;
  virtual ~Try() = default;

  // Starts a new training in place of one that has ended.
  virtual void start(int batch_size, std::uint64_t seed) = 0;
  // Sets this limit now and keeps it in force.
  virtual void hold(Watts limit) = 0;
  // Leaves limits as they were found.
  virtual void leave() = 0;
  // What is known of such a training: how long the last one took, and an epoch's cost under the highest limit that was
  // measured.
  struct Known {
    std::optional<Seconds> run_time;
    std::optional<records::LimitProfile> reference;
  };
  // Measures these limits while it trains, then keeps the best of them.
  virtual void measure(const std::vector<Watts>& limits, const Known& known) = 0;

  struct EpochOver {
    int epochs = 0;  // over so far
  };
  struct MetricSeen {
    double value = 0.0;
  };
  // Steps were reported for the first or second time; what came before them is the start.
  struct StepsSeen {};
  using Event = std::variant<EpochOver, MetricSeen, StepsSeen>;
  // Trains on until something happens, or for a while; returns the events in order.
  virtual std::vector<Event> go_on() = 0;
  // Asks it to end; call go_on() until it has.
  virtual void stop() = 0;

  struct State {
    int epochs = 0;                // over so far
    std::optional<double> metric;  // the last that is a number
    std::optional<int> exit_code;  // if it has ended
    bool interrupted = false;      // its end was requested from outside
    Seconds stood_still = {};      // for how long it was suspended
    bool measuring = false;
    bool disturbed = false;                   // measuring changes what it takes, as comparing limits does
    std::string left_alone;                   // why its limits are not set; empty if they are
    std::optional<Watts> limit;               // set by us, once it is the choice
    std::optional<Watts> found;               // in force since the start, if none was set
    std::optional<double> beside_steps = {};  // the part of its last epoch that was evaluation and the like
  };
  [[nodiscard]] virtual State state() = 0;
  // The results of measure() per epoch, ascending; empty while unknown.
  [[nodiscard]] virtual std::vector<records::LimitProfile> measured() = 0;

  struct Taken {
    std::vector<records::GpuEnergy> gpus;
    Seconds time;
    std::string unknown;  // why the energy is unknown; empty if it is known

    // As far as it is known.
    [[nodiscard]] Joules energy() const {
      Joules all;
      for (const records::GpuEnergy& one : gpus) {
        all += one.energy.value;
      }
      return all;
    }
    // Empty if that of a GPU is unknown, or there is no GPU.
    [[nodiscard]] std::optional<Energy> sum() const {
      std::optional<Energy> all;
      for (const records::GpuEnergy& one : gpus) {
        all = all ? *all + one.energy : one.energy;
      }
      return unknown.empty() ? all : std::nullopt;
    }
  };
  // Since its start, as far as is known without waiting.
  [[nodiscard]] virtual Taken taken_so_far() = 0;
  // Since its start, as exactly as possible; what it takes from now on is not counted.
  virtual Taken close() = 0;
};

}  // namespace zeus::jobs
