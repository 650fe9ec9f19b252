// A sweep: takes entries from a queue and runs them on hosts, each run once, and writes down what comes of them. Its
// folder has hosts.yaml, queue.yaml, consumed.yaml, ledger.jsonl and output/, the output of each run. The main thread
// of a program, once.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "sweep/engine.hpp"
#include "sweep/host_file.hpp"
#include "sweep/host_protocol.hpp"
#include "sweep/ledger.hpp"
#include "sweep/sweep_book.hpp"
#include "sweep/sweep_listener.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::sweep {

struct SweepOptions {
  std::filesystem::path folder = ".";
  bool broadcast = false;         // each command on every host, the next one when all are done
  bool stop_at_failure = false;   // take nothing more after a run that is not done
  bool wait_for_entries = false;  // at an empty queue
};

class Sweep {
 public:
  // What is passed by reference outlives this. `version` is this program's.
  Sweep(SweepOptions options, const Engine& engine, const Environment& environment, Clock& clock, std::string version,
        SweepListener& listener);
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  ~Sweep();

  // Returns when the queue is empty and all runs have ended, or after signals: true if every run was done and every
  // host could be used. `signals` is a descriptor of SIGINT, SIGTERM and SIGHUP: after the first SIGINT nothing more is
  // started, any other signal ends the runs. Throws an Error for files that cannot be read, once all runs have ended.
  bool run(const FileDescriptor& signals);

 private:
  struct Seat {
    Place place;
    int taken = 0;  // slots
  };
  // By host, while it is asked whether it can be used: the answer of the engine.
  using Doubts = std::map<std::string, std::future<std::map<std::string, std::string>>>;
  struct Running;

  void open_hosts();
  void settle_the_past();
  // What the first entry that is not finished wants next; null if all are.
  const KnownEntry* current_entry();
  void check(const QueueEntry& entry) const;
  // Nothing if this is none.
  [[nodiscard]] std::optional<std::vector<std::string>> labels_of_broadcast() const;
  void fill();
  bool fill_from(const KnownEntry& entry);
  bool fill_broadcast(const KnownEntry& entry);
  [[nodiscard]] bool has_room(const Seat& seat, int slots) const;
  [[nodiscard]] bool is_finished(const KnownEntry& entry) const;
  void start(const KnownEntry& entry, std::size_t task, Seat& seat);
  [[nodiscard]] std::unique_ptr<Running> begin(const RunStarted& started, int slots, const std::string& order,
                                               const std::string& key, const Place& place) const;
  void wait(const FileDescriptor& signals);
  void heed_signals(const FileDescriptor& signals);
  void end_runs();
  void write_log(Running& running, std::string_view bytes);
  void read(Running& running);
  void finish(std::size_t index);
  void doubt_host(const std::string& label);
  void give_up_hosts_that_are_away();
  void show_progress();

  SweepOptions options_;
  const Engine& engine_;
  const Environment& environment_;
  Clock& clock_;
  std::string version_;
  SweepListener& listener_;
  std::vector<Seat> seats_;
  std::unique_ptr<SweepBook> book_;
  Doubts doubts_;                     // hosts on which nothing is started meanwhile
  std::size_t first_unfinished_ = 0;  // entry
  std::vector<std::unique_ptr<Running>> running_;
  bool all_well_ = true;
  bool stopping_ = false;     // nothing more is started
  bool interrupted_ = false;  // once, so that the next Ctrl-C ends the runs
  std::optional<Instant> ending_;
};

}  // namespace zeus::sweep
