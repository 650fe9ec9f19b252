// The queue of a sweep in its folder: queue.yaml, from whose top entries are taken, and consumed.yaml, to which they
// are appended. Users may edit the queue meanwhile; while they hold the lock of `queue.lock` (flock), nothing is taken.
// One thread.
#pragma once

#include "base/file_descriptor.hpp"
#include "sweep/queue_entry.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {

class QueueFile {
 public:
  explicit QueueFile(const std::filesystem::path& folder);

  [[nodiscard]] bool exists() const;

  // Holds the lock while it lives. False if a user or another program has it.
  class Lock {
   public:
    explicit Lock(const std::filesystem::path& file);
    explicit operator bool() const { return static_cast<bool>(file_); }

   private:
    FileDescriptor file_;
  };
  [[nodiscard]] Lock lock() const;

  // Reads the file again if it has changed; errors are those of parse_queue().
  void refresh();
  // The entry at the top; null if the queue is empty.
  [[nodiscard]] const QueueEntry* first() const;
  // How many runs all entries stand for.
  [[nodiscard]] std::size_t runs() const { return runs_; }
  // Identifies the file's content, so that an interrupted move is known again.
  [[nodiscard]] std::string sum() const;
  enum class Move { once, again };
  // Appends the top entry to consumed.yaml and takes it out, durably. `again`: an earlier process may have done a part
  // of that.
  void move_first(Move move = Move::once);

 private:
  struct Position {
    std::size_t begin = 0;  // in text_
    QueueEntry entry;
  };
  void add_to_consumed(const std::string& entry, Move move) const;

  std::filesystem::path folder_;
  std::filesystem::path file_;
  std::string text_;  // the entries in their canonical form, one after the other
  std::vector<Position> entries_;
  std::size_t next_ = 0;  // the first that is still in the file
  std::size_t runs_ = 0;
  std::optional<struct stat> state_;  // of the file when it was last read or written
};

}  // namespace zeus::sweep
