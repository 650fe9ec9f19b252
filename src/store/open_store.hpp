// Which store to use, and opening it: SQLite in a file, or PostgreSQL. Any thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "store/job_store.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace zeus::store {

// $XDG_DATA_HOME/zeus/jobs.sqlite, or ~/.local/share/zeus/jobs.sqlite. Without either variable a not_found Error that
// says to name a file.
std::filesystem::path default_store(const Environment& environment);

enum class Access {
  create,     // makes the file and its folders, or the tables, and what is missing in them
  existing,   // a store that is not there is a not_found Error
  read_only,  // likewise, and nothing is ever written, so that it works on a read-only disk
};

// Opens the store at `location`: a file, sqlite:FILE, or postgresql://USER@HOST:PORT/DATABASE
// (store/postgres_address.hpp). Migrations that are missing are applied, each once, however many processes open it at
// the same time. A store made by a newer Zeus, a file that is something else and a place where nothing can be written
// are Errors that say so.
//
// A connection to PostgreSQL that is lost is made anew within the call that finds it so, for up to 60 s of `clock`,
// which outlives the store; whether what was under way has been done is looked up, so that it is done once.
std::unique_ptr<JobStore> open_store(const std::string& location, Access access, Clock& clock);

// The same for many threads: one connection that writes, and up to `readers` that read (store/store_pool.hpp). It makes
// what is missing, and only reads for as long as the disk of a file is read-only.
std::unique_ptr<JobStore> open_pool(const std::string& location, Clock& clock, std::size_t readers);

// The same for messages and reports: an address without its password.
std::string shown_location(const std::string& location);

}  // namespace zeus::store
