#include "store/open_store.hpp"

#include "base/file_descriptor.hpp"
#include "store/migrations.hpp"
#include "store/postgres_address.hpp"
#include "store/postgres_database.hpp"
#include "store/sql_store.hpp"
#include "store/sqlite_database.hpp"
#include "store/store_pool.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <system_error>
#include <utility>

namespace zeus::store {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

fs::path file_of(const std::string& location) {
  const fs::path file{location.starts_with(sqlite_scheme) ? location.substr(sqlite_scheme.size()) : location};
  if (file.empty()) {
    throw Error{ErrorKind::invalid_argument, "the store's name is empty", "name a file"};
  }
  return fs::absolute(file).lexically_normal();
}

Error absent(std::string_view name) {
  return {ErrorKind::not_found, fmt::format("there is no store {}", name), "run a job first, or name the right one"};
}

std::unique_ptr<JobStore> open_file(const fs::path& file, Access access) {
  std::error_code failure;
  // Opening a pipe would wait for a writer.
  if (fs::exists(file, failure) && !fs::is_regular_file(file, failure)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the store {} is {}", file.string(),
                            fs::is_directory(file, failure) ? "a folder" : "a pipe or a device"),
                "name a file"};
  }
  if (access == Access::create) {
    fs::create_directories(file.parent_path(), failure);
  } else if (!fs::exists(file, failure)) {
    throw failure ? system_failure(failure.value(), fmt::format("cannot look for the store {}", file.string()))
                  : absent(file.string());
  }
  std::unique_ptr<Database> database = open_sqlite(file, access, journal_for(file.parent_path()));
  const Tables tables = migrate(*database, file.string(), access == Access::read_only);
  return std::make_unique<SqlStore>(std::move(database), tables);
}

std::unique_ptr<JobStore> open_in_postgres(const PostgresAddress& address, Access access, Clock& clock) {
  std::unique_ptr<Database> database = open_postgres(address, access, clock);
  if (access != Access::create && !has_store(*database)) {
    throw absent(address.shown);
  }
  const Tables tables = migrate(*database, address.shown, access == Access::read_only);
  return std::make_unique<SqlStore>(std::move(database), tables);
}

}  // namespace

fs::path default_store(const Environment& environment) {
  const std::optional<std::string> data = environment.get("XDG_DATA_HOME");
  if (data && fs::path{*data}.is_absolute()) {
    return fs::path{*data} / "zeus" / "jobs.sqlite";
  }
  const std::optional<std::string> home = environment.get("HOME");
  if (!home || !fs::path{*home}.is_absolute()) {
    throw Error{ErrorKind::not_found, "there is no home folder to keep jobs in",
                "name a file with --store, or set HOME"};
  }
  return fs::path{*home} / ".local" / "share" / "zeus" / "jobs.sqlite";
}

std::string shown_location(const std::string& location) {
  return is_postgres(location) ? postgres_address(location).shown : location;
}

std::unique_ptr<JobStore> open_store(const std::string& location, Access access, Clock& clock) {
  if (is_postgres(location)) {
    return open_in_postgres(postgres_address(location), access, clock);
  }
  return open_file(file_of(location), access);
}

std::unique_ptr<JobStore> open_pool(const std::string& location, Clock& clock, std::size_t readers) {
  PoolPlace place{.open = [=, &clock](Access access) { return open_store(location, access, clock); }};
  if (!is_postgres(location)) {
    place.is_read_only = [file = file_of(location)] { return is_on_read_only_disk(file); };
  }
  place.name = shown_location(location);
  return std::make_unique<StorePool>(std::move(place), readers, clock);
}

}  // namespace zeus::store
