// The ledger of a sweep: a file to which one process appends what happens, each event a line of JSON, flushed to disk.
// Its content is a fold over the events, so a second start goes on where the first stopped. One thread. Any process may
// read it meanwhile.
#pragma once

#include "base/file_descriptor.hpp"
#include "sweep/run_record.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::sweep {

using LedgerEvent = std::variant<EntryTaken, EntryMoved, RunStarted, ArrayStarted, RunEnded>;

struct KnownEntry {
  EntryTaken taken;
  bool moved = false;
  std::size_t tasks = 0;
  std::size_t next_task = 0;                              // the first that was not started
  std::set<std::pair<std::uint64_t, std::string>> begun;  // of a broadcast: task and place
};

struct KnownRun {
  RunStarted started;
  std::optional<RunEnded> ended;
  std::size_t begun_by_then = 0;  // how many runs had begun when it ended
};

struct LedgerContent {
  std::vector<KnownEntry> entries;  // number n at n - 1
  std::vector<KnownRun> runs;       // number n at n - 1
  std::vector<ArrayStarted> arrays;

  // The array that the run is part of; null if it is in none.
  [[nodiscard]] const ArrayStarted* array_of(std::uint64_t run) const;

  // A corrupt_data Error if the event does not fit what came before.
  void add(const LedgerEvent& event);
};

// What a ledger has; nothing if there is no such file. A last line that is cut short is left out. Any other line that
// is not an event is a corrupt_data Error with file and line; so is a ledger of a newer version.
LedgerContent read_ledger(const std::filesystem::path& file);

// The place of a run that Slurm has not placed yet.
inline constexpr std::string_view slurm_place = "slurm";

class Ledger {
 public:
  // Opens or makes it. A conflict Error names the process that has it open. A last line that was cut short is removed:
  // `cut()` says so.
  explicit Ledger(const std::filesystem::path& file);

  [[nodiscard]] const LedgerContent& content() const { return content_; }
  [[nodiscard]] bool cut() const { return cut_; }
  // If it throws, the event is neither in the file nor in the content.
  void append(const LedgerEvent& event);

 private:
  std::string name_;
  FileDescriptor file_;
  LedgerContent content_;
  bool cut_ = false;
};

}  // namespace zeus::sweep
