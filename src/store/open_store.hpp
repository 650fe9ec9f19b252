// Chooses and opens a store: SQLite in a file, or PostgreSQL. Any thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "store/job_store.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace zeus::store {

// $XDG_DATA_HOME/zeus/jobs.sqlite, or ~/.local/share/zeus/jobs.sqlite. Without either variable: a not_found Error that
// advises to name a file.
std::filesystem::path default_store(const Environment& environment);

enum class Access {
  create,     // makes the file and its folders, or the tables, and whatever they lack
  existing,   // a missing store is a not_found Error
  read_only,  // likewise, and writes nothing, so that it works on a read-only disk
};

// Opens the store at `location`: a file, sqlite:FILE, or postgresql://USER@HOST:PORT/DATABASE
// (store/postgres_address.hpp). Applies missing migrations, each once, however many processes open it at the same time.
// A store made by a newer Zeus, another kind of file, and a place without write access are Errors that say so.
//
// A call that finds its connection to PostgreSQL lost opens a new one, for up to 60 s of `clock`, which must outlive
// the store. It then checks whether its work was done, so that it is done once.
std::unique_ptr<JobStore> open_store(const std::string& location, Access access, Clock& clock);

// The same for many threads: one connection that writes, and up to `readers` that read (store/store_pool.hpp). Makes
// what is missing. While the file's disk is read-only, it only reads.
std::unique_ptr<JobStore> open_pool(const std::string& location, Clock& clock, std::size_t readers);

// The location for messages and reports: an address without its password.
std::string shown_location(const std::string& location);

}  // namespace zeus::store
