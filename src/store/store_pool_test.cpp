#include "store/store_pool.hpp"

#include "store/migrations.hpp"
#include "store/sql_store.hpp"
#include "store/sqlite_database.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::store {
namespace {

// A place that is read-only as long as a test wants, and counts its connections.
class Place {
 public:
  Place() { static_cast<void>(open(Access::create)); }

  [[nodiscard]] PoolPlace as_place() {
    return {.open = [this](Access access) { return open(access); },
            .is_read_only = [this] { return read_only.load(); }};
  }

  std::atomic<bool> read_only = false;
  std::atomic<bool> is_gone = false;
  std::atomic<bool> refuses = false;  // writes, without being reported as read-only
  std::atomic<int> alive = 0;
  std::function<void()> while_reading = [] {};

  struct Opening {
    Access access;
    int beside;  // how many were open at that time
    friend bool operator==(const Opening&, const Opening&) = default;
  };
  // Since the last call.
  [[nodiscard]] std::vector<Opening> openings() {
    const std::scoped_lock lock{mutex_};
    return std::exchange(openings_, {});
  }

 private:
  class Counted final : public Database {
   public:
    Counted(Place& place, std::unique_ptr<Database> inner) : place_{place}, inner_{std::move(inner)} { ++place_.alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() override {
      inner_.reset();
      --place_.alive;
    }
    [[nodiscard]] std::string name() const override { return inner_->name(); }
    [[nodiscard]] const Dialect& dialect() const override { return inner_->dialect(); }
    soci::session& session() override {
      place_.while_reading();
      return inner_->session();
    }
    void begin_writing() override { inner_->begin_writing(); }
    void begin_migrating() override { inner_->begin_migrating(); }
    void commit() override { inner_->commit(); }
    void roll_back() noexcept override { inner_->roll_back(); }
    [[nodiscard]] Failure failure_of(const soci::soci_error& problem) const override {
      return inner_->failure_of(problem);
    }
    [[nodiscard]] Error explained(const Failure& failure) const override { return inner_->explained(failure); }
    void mend(const Failure& failure, std::optional<Instant>& lost_since) override {
      inner_->mend(failure, lost_since);
    }

   private:
    Place& place_;
    std::unique_ptr<Database> inner_;
  };

  std::unique_ptr<JobStore> open(Access access) {
    if (is_gone) {
      throw Error{ErrorKind::not_found, "there is no store"};
    }
    {
      const std::scoped_lock lock{mutex_};
      openings_.push_back({access, alive});
    }
    const bool only_reads = access == Access::read_only || refuses;
    auto database = std::make_unique<Counted>(
        *this, open_sqlite(folder_.path() / "jobs", only_reads ? Access::read_only : access, Journal::write_ahead));
    const Tables tables = migrate(*database, "the test's", only_reads);
    return std::make_unique<SqlStore>(std::move(database), tables);
  }

  test::TemporaryFolder folder_;
  std::mutex mutex_;
  std::vector<Opening> openings_;
};

const std::vector<records::JobEntryBody> one = {records::RecurrenceGivenUp{.recurrence = 0, .reason = "r"}};

std::optional<ErrorKind> kind_of_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

using Opening = Place::Opening;

class StorePoolTest : public testing::Test {
 protected:
  [[nodiscard]] StorePool open(std::size_t readers = 2) { return StorePool{place_.as_place(), readers, clock_}; }

  VirtualClock clock_;
  Place place_;
};

TEST_F(StorePoolTest, OnAReadOnlyPlaceReadsAndReportsThatItCannotWrite) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  static_cast<void>(place_.openings());
  place_.read_only = true;
  StorePool pool = open();
  const JobId job = pool.find("a").value().id;
  EXPECT_EQ(kind_of_failure([&] { pool.find_or_create("b", test::one_limit_job(), {}, {}); }),
            ErrorKind::permission_denied);
  EXPECT_EQ(kind_of_failure([&] { pool.append(job, 0, one, {}, {}); }), ErrorKind::permission_denied);
  GivenEntries none{{}};
  EXPECT_EQ(kind_of_failure([&] { pool.import("b", test::one_limit_job(), {}, none, {}); }),
            ErrorKind::permission_denied);
  EXPECT_EQ(kind_of_failure([&] { pool.forget("a"); }), ErrorKind::permission_denied);
  EXPECT_EQ(pool.names().size(), 1U);
  EXPECT_EQ(place_.openings(), (std::vector<Opening>{{Access::read_only, 0}, {Access::read_only, 1}}));
}

TEST_F(StorePoolTest, OnceThePlaceIsWritableAllConnectionsAreClosedAndThenOpenedAgain) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  place_.read_only = true;
  StorePool pool = open();
  const JobId job = pool.find("a").value().id;
  static_cast<void>(place_.openings());
  place_.read_only = false;
  EXPECT_TRUE(pool.append(job, 0, one, {}, {}));
  EXPECT_EQ(pool.entries(job, 0, 9).size(), 1U);
  EXPECT_TRUE(pool.forget("a"));
  EXPECT_EQ(place_.openings(), (std::vector<Opening>{{Access::existing, 0}, {Access::existing, 1}}));
}

TEST_F(StorePoolTest, WaitsUntilNoConnectionIsUsedBeforeItClosesThem) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  place_.read_only = true;
  StorePool pool = open();
  std::atomic<bool> reads = false;
  std::atomic<bool> goes_on = false;
  std::atomic<int> calls = 0;
  static_cast<void>(pool.find("a"));  // opens a reader
  place_.while_reading = [&] {
    if (calls++ == 0) {
      reads = true;
      while (!goes_on) {
        std::this_thread::yield();
      }
    }
  };
  std::thread reader{[&] { EXPECT_TRUE(pool.find("a")); }};
  while (!reads) {
    std::this_thread::yield();
  }
  place_.read_only = false;
  static_cast<void>(place_.openings());
  std::thread writer{[&] { EXPECT_TRUE(pool.find_or_create("b", test::one_limit_job(), {}, {}).id > 0); }};
  goes_on = true;
  reader.join();
  writer.join();
  EXPECT_EQ(place_.openings().front(), (Opening{Access::existing, 0}));
  EXPECT_EQ(pool.names().size(), 2U);
}

TEST_F(StorePoolTest, ReadsAgainIfAnotherProcessMayHaveBegunToWrite) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  place_.read_only = true;
  StorePool pool = open();
  bool first = true;
  place_.while_reading = [&] {
    if (std::exchange(first, false)) {
      place_.read_only = false;
    }
  };
  static_cast<void>(place_.openings());
  EXPECT_TRUE(pool.find("a"));
  EXPECT_EQ(place_.openings(),
            (std::vector<Opening>{{Access::read_only, 1}, {Access::existing, 0}, {Access::existing, 1}}));
}

TEST_F(StorePoolTest, AReadOnlyConnectionIsOpenedAgainWhenItRefusesAChange) {
  StorePool pool = open();
  pool.find_or_create("a", test::one_limit_job(), {}, {});
  StorePool other = open();
  place_.read_only = true;
  EXPECT_TRUE(other.find("a"));  // through a reader that is opened now, read-only
  EXPECT_EQ(kind_of_failure([&] { other.forget("a"); }), ErrorKind::permission_denied);
  place_.read_only = false;
  EXPECT_TRUE(other.forget("a"));
}

TEST_F(StorePoolTest, OpensAgainAtMostOnceASecondIfThatDoesNotHelp) {
  place_.refuses = true;
  StorePool pool = open();
  static_cast<void>(place_.openings());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kind_of_failure([&] { pool.drop_summaries(); }), ErrorKind::permission_denied);
  }
  EXPECT_EQ(place_.openings().size(), 1U);
  clock_.advance(2_s);
  place_.refuses = false;
  pool.drop_summaries();
  EXPECT_EQ(place_.openings().size(), 1U);
}

TEST_F(StorePoolTest, APlaceThatIsGoneIsNotCreatedAndMayComeBack) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  place_.read_only = true;
  StorePool pool = open();
  place_.is_gone = true;
  place_.read_only = false;
  EXPECT_EQ(kind_of_failure([&] { pool.names(); }), ErrorKind::unavailable);
  EXPECT_EQ(kind_of_failure([&] { pool.find_or_create("b", test::one_limit_job(), {}, {}); }), ErrorKind::unavailable);
  place_.is_gone = false;
  EXPECT_TRUE(pool.find_or_create("b", test::one_limit_job(), {}, {}).id > 0);
}

TEST_F(StorePoolTest, CountsWritesOverAllConnections) {
  open().find_or_create("a", test::one_limit_job(), {}, {});
  StorePool pool = open();
  pool.drop_summaries();
  place_.read_only = true;
  static_cast<void>(pool.names());  // through a reader that can only read
  place_.read_only = false;
  static_cast<void>(place_.openings());
  EXPECT_TRUE(pool.forget("a"));
  ASSERT_EQ(place_.openings().size(), 2U) << "all were opened again";
  pool.drop_summaries();
  EXPECT_EQ(pool.written().writes, 2U);
  EXPECT_EQ(pool.written().flushes, 2U);
}

}  // namespace
}  // namespace zeus::store
