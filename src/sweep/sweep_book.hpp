// The ledger and the queue of a sweep's folder together, and how far it is, whichever engine carries its runs out. One
// thread.
#pragma once

#include "sweep/ledger.hpp"
#include "sweep/queue_file.hpp"
#include "sweep/sweep_listener.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {

inline constexpr std::string_view ledger_name = "ledger.jsonl";

class SweepBook {
 public:
  // Opens the ledger and finishes what an earlier process has left half done. Errors are those of Ledger and QueueFile;
  // a folder with nothing to do is a not_found Error unless `may_be_empty`. The listener outlives this.
  SweepBook(const std::filesystem::path& folder, SweepListener& listener, bool may_be_empty);

  [[nodiscard]] const LedgerContent& content() const { return ledger_.content(); }
  [[nodiscard]] std::uint64_t next_run() const { return content().runs.size() + 1; }
  void begin(const RunStarted& started) { ledger_.append(started); }
  void begin(const ArrayStarted& started) { ledger_.append(started); }
  // The listener hears of it.
  void end(const RunEnded& ended);

  // Takes the entry at the top of the queue, for a broadcast with the labels of its places; false if there is none, or
  // if the queue is locked. Until it is in the ledger it is in the queue. `check` throws an Error if it cannot be run:
  // then nothing is changed, and a corrupt_data Error names the file.
  bool take_entry(const std::optional<std::vector<std::string>>& broadcast,
                  const std::function<void(const QueueEntry&)>& check);
  [[nodiscard]] bool queue_is_locked() const { return queue_is_locked_; }

  void show_progress(std::size_t under_way, std::size_t rest_of_entry);
  // Whether every run that has ended since this was made is done.
  [[nodiscard]] bool all_done() const { return all_done_; }

 private:
  void finish_interrupted_move();
  void count(const RunEnded& ended);

  std::filesystem::path folder_;
  SweepListener& listener_;
  Ledger ledger_;
  QueueFile queue_;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::size_t lost_ = 0;
  bool all_done_ = true;
  bool queue_is_locked_ = false;
};

// What an engine without hosts requires of an entry, too.
void check_settings(const QueueEntry& entry);

}  // namespace zeus::sweep
