// A training that a recurrence is run with, for whoever has control of one: a command that is watched, the demo's
// network. jobs::Driver has one started, held under limits and ended as the job says; each implementation holds and
// measures limits in its own way. One thread.
#pragma once

#include "records/job_entry.hpp"
#include "records/limit_profile.hpp"

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

  // Starts a training anew, in place of one that has ended.
  virtual void start(int batch_size, std::uint64_t seed) = 0;
  // Puts this limit in force now, and keeps it.
  virtual void hold(Watts limit) = 0;
  // Limits as they were found.
  virtual void leave() = 0;
  // What is known of such a training: how long it took last, and what an epoch takes under the highest limit that was
  // measured.
  struct Known {
    std::optional<Seconds> run_time;
    std::optional<records::LimitProfile> reference;
  };
  // Measures these while it trains, and keeps the best of them then.
  virtual void measure(const std::vector<Watts>& limits, const Known& known) = 0;

  struct EpochOver {
    int epochs = 0;  // over so far
  };
  struct MetricSeen {
    double value = 0.0;
  };
  // A word of steps, one of the first two: what came before them is the start.
  struct StepsSeen {};
  using Event = std::variant<EpochOver, MetricSeen, StepsSeen>;
  // Trains on until something has happened, or for a while; returns what has, in its order.
  virtual std::vector<Event> go_on() = 0;
  // Asks it to end; go_on() until it has.
  virtual void stop() = 0;

  struct State {
    int epochs = 0;                // over so far
    std::optional<double> metric;  // the last one that is a number
    std::optional<int> exit_code;  // of one that has ended
    bool interrupted = false;      // somebody else wants it to end
    bool stood_still = false;      // for a while that was not its own
    bool measuring = false;
    bool disturbed = false;      // it takes more or less by what is measured, as where several limits are compared
    std::string left_alone;      // why its limits are not set; empty where they are
    std::optional<Watts> limit;  // in force because of us, once it is the choice
    std::optional<Watts> found;  // in force since the start, where nothing was set
    std::optional<double> beside_steps = {};  // the part of its last epoch that was evaluation and the like
  };
  [[nodiscard]] virtual State state() = 0;
  // What measure() has come to, as epochs, ascending; empty while that cannot be said.
  [[nodiscard]] virtual std::vector<records::LimitProfile> measured() = 0;

  struct Taken {
    std::vector<records::GpuEnergy> gpus;
    Seconds time;
    std::string unknown;  // why the energy is not known; empty when it is

    [[nodiscard]] Joules energy() const {
      Joules all;
      for (const records::GpuEnergy& one : gpus) {
        all += one.energy.value;
      }
      return all;
    }
  };
  // Since its start, as far as it can be known at once.
  [[nodiscard]] virtual Taken taken_so_far() = 0;
  // Since its start, as well as it can be known; what it takes from now on is nobody's.
  virtual Taken close() = 0;
};

}  // namespace zeus::jobs
