// A sweep whose runs Slurm places: entries become array jobs by `sbatch`, and each task writes its end into the sweep's
// folder, which the nodes share. `squeue` says which tasks are still there; `sacct` is asked only about those that are
// gone without an end. Nothing here has to run while the jobs do: a later start collects what has ended. The main
// thread of a program, once.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_command.hpp"
#include "sweep/ledger.hpp"
#include "sweep/sweep_book.hpp"
#include "sweep/sweep_listener.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zeus::sweep {

struct SlurmOptions {
  std::filesystem::path folder = ".";
  bool wait_for_entries = false;  // at an empty queue
  std::filesystem::path program;  // of Zeus, on every node
  std::string version;            // of it
};

class SlurmSweep {
 public:
  // What is passed by reference outlives this. Errors are those of SweepBook.
  SlurmSweep(SlurmOptions options, const Environment& environment, Clock& clock, SweepListener& listener);

  // Returns when the queue is empty and all runs have ended, or after a signal, which leaves the jobs in Slurm: true if
  // every run was done. `signals` is a descriptor of SIGINT, SIGTERM and SIGHUP. That is seen between two of
  // Slurm's commands. Throws an Error if `sbatch` refuses
  // and no other run is under way: the next start submits those runs again.
  bool run(const FileDescriptor& signals);

 private:
  void take_up_the_past();
  // Submits what the queue has; false if there was nothing.
  bool submit_next();
  const KnownEntry* next_entry();
  [[nodiscard]] std::set<std::uint64_t> write_orders(const ArrayStarted& array);
  void submit(const ArrayStarted& array);
  void submit_refused();
  void collect();
  void look_for_lost();
  [[nodiscard]] std::map<std::uint64_t, std::string> states_of(const ArrayStarted& array) const;
  void find_out(const ArrayStarted& array, std::uint64_t run, const std::string& state);
  void end_as_lost(std::uint64_t run, const std::string& why);
  [[nodiscard]] bool has_traces(const ArrayStarted& array) const;
  [[nodiscard]] std::filesystem::path folder_of(const ArrayStarted& array) const;
  [[nodiscard]] GroupCommandEnd ask(std::vector<std::string> words, Seconds patience) const;
  // The runs that Slurm still has; nothing if it does not answer.
  [[nodiscard]] std::optional<std::set<std::uint64_t>> runs_in_slurm() const;

  SlurmOptions options_;
  const Environment& environment_;
  Clock& clock_;
  SweepListener& listener_;
  SweepBook book_;
  std::set<std::uint64_t> open_;         // runs that have no end yet, without those of `refused_`
  std::map<std::uint64_t, int> missed_;  // how often in turn Slurm did not have an open run
  std::size_t first_unfinished_ = 0;     // entry
  bool is_silent_ = false;               // Slurm does not answer
  std::optional<ArrayStarted> refused_;  // to be submitted again once fewer runs are open than then
  std::size_t open_at_refusal_ = 0;
  bool is_refused_ = false;
};

}  // namespace zeus::sweep
