// What is known of a run: what was asked for, and what came of it. Plain values; copy them freely between threads.
#pragma once

#include "sweep/queue_entry.hpp"

#include <zeus/energy.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::sweep {

enum class Outcome {
  done,    // its command exited with 0
  failed,  // with another code, or it could not be started
  lost,    // its end is unknown: the connection or the sweep ended first
};

constexpr auto names_of(Outcome /*outcome*/) {
  return std::array<field::Name<Outcome>, 3>{
      {{Outcome::done, "done"}, {Outcome::failed, "failed"}, {Outcome::lost, "lost"}}};
}

struct RunGpu {
  std::string uuid;
  std::string name;
  std::optional<Watts> limit;  // in force during the run, as the driver reported it

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("uuid", self.uuid);
    fields("name", self.name);
    fields("limit", self.limit);
  }
};

// Energies are those of all GPUs of the run.
struct RunFigures {
  std::optional<int> exit_code;
  std::optional<Seconds> start_monotonic;  // of the command, on the host's monotonic clock
  std::optional<Seconds> time;
  std::string node;  // that Slurm has chosen
  std::vector<RunGpu> gpus;
  std::optional<Energy> energy;
  std::string energy_unknown;  // why
  std::uint64_t epochs = 0;
  // Means over the epochs without the first, which has the program's start in it; of the only one if there is just one.
  std::optional<Seconds> epoch_time;
  std::optional<Joules> epoch_energy;
  std::vector<std::optional<double>> metrics;  // at the end of each epoch; unknown before the first is printed

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("exit_code", self.exit_code);
    fields("start_monotonic", self.start_monotonic);
    fields("time", self.time);
    fields("node", self.node);
    fields("gpus", self.gpus);
    fields("energy", self.energy);
    fields("energy_unknown", self.energy_unknown);
    fields("epochs", self.epochs);
    fields("epoch_time", self.epoch_time);
    fields("epoch_energy", self.epoch_energy);
    fields("metrics", self.metrics, long_list);
  }
};

// The events of the ledger.

// An entry was taken from the queue.
struct EntryTaken {
  static constexpr std::string_view kind = "taken";
  std::uint64_t entry = 0;
  bool broadcast = false;
  std::string queue;  // the sum of the queue's file before that
  QueueEntry content;
  std::vector<std::string> labels = {};  // of a broadcast: the places that it is for; older ledgers have none

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("entry", self.entry);
    fields("broadcast", self.broadcast);
    fields("queue", self.queue);
    fields("content", self.content);
    fields("labels", self.labels, field::may_lack(long_list));
  }
};

// It is in consumed.yaml, and no longer in the queue's file.
struct EntryMoved {
  static constexpr std::string_view kind = "moved";
  std::uint64_t entry = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("entry", self.entry);
  }
};

struct RunStarted {
  static constexpr std::string_view kind = "started";
  std::uint64_t run = 0;
  std::uint64_t entry = 0;
  std::uint64_t task = 0;  // of the entry
  std::string place;
  std::string host;
  std::string command;                // as the host gets it
  std::vector<Parameter> parameters;  // of the host and the entry
  double at = 0.0;                    // seconds since 1970

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("run", self.run);
    fields("entry", self.entry);
    fields("task", self.task);
    fields("place", self.place);
    fields("host", self.host);
    fields("command", self.command);
    fields("parameters", self.parameters);
    fields("at", self.at);
  }
};

// Runs that go to Slurm as one array job: of `count` tasks of an entry from `task` on, the numbers from `run` on.
struct ArrayStarted {
  static constexpr std::string_view kind = "array";
  std::uint64_t run = 0;
  std::uint64_t entry = 0;
  std::uint64_t task = 0;
  std::uint64_t count = 0;
  std::string name;  // of the job, and of its folder
  double at = 0.0;   // seconds since 1970

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("run", self.run);
    fields("entry", self.entry);
    fields("task", self.task);
    fields("count", self.count, field::count_from_one);
    fields("name", self.name);
    fields("at", self.at);
  }
};

struct RunEnded {
  static constexpr std::string_view kind = "ended";
  std::uint64_t run = 0;
  Outcome outcome = Outcome::lost;
  std::string why;  // empty for one that is done
  RunFigures figures;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("run", self.run);
    fields("outcome", self.outcome);
    fields("why", self.why);
    fields("figures", self.figures);
  }
};

}  // namespace zeus::sweep
