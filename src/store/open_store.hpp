// Which store to use, and opening it: SQLite in a file. Any thread.
#pragma once

#include "base/environment.hpp"
#include "store/job_store.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace zeus::store {

// $XDG_DATA_HOME/zeus/jobs.sqlite, or ~/.local/share/zeus/jobs.sqlite. Without either variable a not_found Error that
// says to name a file.
std::filesystem::path default_store(const Environment& environment);

enum class Access {
  create,     // makes the file, its folders and what is missing in it
  existing,   // a store that is not there is a not_found Error
  read_only,  // likewise, and nothing is ever written, so that it works on a read-only disk
};

// Opens the store at `location`: a file, or sqlite:FILE. Migrations that are missing are applied, each once, however
// many processes open it at the same time. A store made by a newer Zeus, a file that is something else and a place
// where nothing can be written are Errors that say so.
std::unique_ptr<JobStore> open_store(const std::string& location, Access access);

}  // namespace zeus::store
