// The databases on which the promises of stores are tested (job_store_conformance_test.cpp): SQLite, PostgreSQL, both
// as opened by a server, and a PostgreSQL whose connections are cut. Any thread.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "store/job_store.hpp"
#include "store/migrations.hpp"
#include "store/open_store.hpp"
#include "store/sql_store.hpp"
#include "store/sqlite_database.hpp"
#include "store/store_pool.hpp"
#include "tests/support/cutting_proxy.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace zeus::store {

// Opens the test's database, any number of times, from any thread.
using Home = std::function<std::unique_ptr<JobStore>()>;

struct Subject {
  const char* name;
  std::function<Home()> make;

  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }
};

inline Subject sqlite(const char* name, Journal journal) {
  return {.name = name, .make = [journal]() -> Home {
            const auto folder = std::make_shared<test::TemporaryFolder>();
            return [folder, journal]() -> std::unique_ptr<JobStore> {
              auto database = open_sqlite(folder->path() / "jobs.sqlite", Access::create, journal);
              migrate(*database, "the test's", false);
              return std::make_unique<SqlStore>(std::move(database));
            };
          }};
}

inline std::unique_ptr<JobStore> open_there(const std::string& address) {
  static SystemClock clock;
  return open_store(address, Access::create, clock);
}

inline Subject postgresql() {
  return {.name = "postgresql", .make = []() -> Home {
            test::PostgresServer& server = test::PostgresServer::of_program();
            return [address = server.address(server.make_database())] { return open_there(address); };
          }};
}

// As a server opens it.
inline Subject pooled(const char* name, const Subject& inner) {
  return {.name = name, .make = [make = inner.make]() -> Home {
            return [home = make()]() -> std::unique_ptr<JobStore> {
              static SystemClock clock;
              return std::make_unique<StorePool>(PoolPlace{.open = [home](Access) { return home(); }}, 2, clock);
            };
          }};
}

// The same with its connections cut at random moments, which users of the store must not notice.
class CutHome {
 public:
  CutHome() {
    proxy_.cut_again_and_again([this] {
      const int messages = 1 + static_cast<int>(draws_.bits() % most_messages);
      return std::pair{messages,
                       draws_.bits() % 2 == 0 ? test::CuttingProxy::Way::before : test::CuttingProxy::Way::after};
    });
  }
  CutHome(const CutHome&) = delete;
  CutHome& operator=(const CutHome&) = delete;
  ~CutHome() { cuts += proxy_.cuts(); }

  [[nodiscard]] std::unique_ptr<JobStore> open() const {
    return open_there(test::PostgresServer::address(database_, folder_.path()));
  }

  static inline int homes = 0;
  static inline int cuts = 0;

 private:
  static constexpr int most_messages = 200;

  test::TemporaryFolder folder_;
  std::string database_ = test::PostgresServer::of_program().make_database();
  Random draws_{static_cast<std::uint64_t>(++homes)};
  test::CuttingProxy proxy_{folder_.path() / ".s.PGSQL.5432",
                            test::PostgresServer::of_program().folder() / ".s.PGSQL.5432"};
};

inline Subject postgresql_cut() {
  return {.name = "postgresql_cut",
          .make = []() -> Home { return [home = std::make_shared<CutHome>()] { return home->open(); }; }};
}

}  // namespace zeus::store
