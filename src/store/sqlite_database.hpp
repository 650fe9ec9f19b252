// SQLite in a file. A commit reaches the disk before it is acknowledged, through a write-ahead log if the file system
// supports one, otherwise through a rollback journal. One thread at a time.
#pragma once

#include "store/database.hpp"
#include "store/open_store.hpp"

#include <filesystem>
#include <memory>

namespace zeus::store {

enum class Journal {
  write_ahead,  // one flush for each commit; its users share memory, so they must be on one machine
  rollback,     // works everywhere
};

// The right one for the file system of `folder`.
Journal journal_for(const std::filesystem::path& folder);

// Whether `file` is on a disk that is read-only now. False if there is no such file.
bool is_on_read_only_disk(const std::filesystem::path& file);

// Opens `file`, an absolute path in an existing folder, with the journal `wanted` if that works there.
std::unique_ptr<Database> open_sqlite(const std::filesystem::path& file, Access access, Journal wanted);

}  // namespace zeus::store
