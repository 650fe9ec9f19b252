// SQLite in a file. Commits reach the disk before they are acknowledged, with a write-ahead log where the file system
// can do that and with a rollback journal elsewhere. One thread at a time.
#pragma once

#include "store/database.hpp"
#include "store/open_store.hpp"

#include <filesystem>
#include <memory>

namespace zeus::store {

enum class Journal {
  write_ahead,  // one flush for each commit; needs memory that all who use the file share, so one machine
  rollback,     // anywhere
};

// What suits the file system that `folder` is on.
Journal journal_for(const std::filesystem::path& folder);

// Whether `file` is on a disk on which nobody can write now. False where there is no such file.
bool is_on_read_only_disk(const std::filesystem::path& file);

// Opens `file`, an absolute path; its folder exists. `wanted` is what to use unless it turns out not to work.
std::unique_ptr<Database> open_sqlite(const std::filesystem::path& file, Access access, Journal wanted);

}  // namespace zeus::store
