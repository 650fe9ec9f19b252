#include "store/sql_store.hpp"

#include "store/migrations.hpp"
#include "store/sqlite_database.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::store {
namespace {

// A database that counts commits and can hold them up.
class SlowDatabase final : public Database {
 public:
  explicit SlowDatabase(std::unique_ptr<Database> inner) : inner_{std::move(inner)} {}

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] const Dialect& dialect() const override { return inner_->dialect(); }
  soci::session& session() override { return inner_->session(); }
  void begin_writing() override { inner_->begin_writing(); }
  void begin_migrating() override { inner_->begin_migrating(); }
  void commit() override {
    {
      std::unique_lock lock{mutex_};
      ++commits_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
      if (commits_ == failing_) {
        throw Error{ErrorKind::unavailable, "the disk is full"};
      }
    }
    inner_->commit();
  }
  void roll_back() noexcept override { inner_->roll_back(); }
  [[nodiscard]] Failure failure_of(const soci::soci_error& problem) const override {
    return inner_->failure_of(problem);
  }
  [[nodiscard]] Error explained(const Failure& failure) const override { return inner_->explained(failure); }
  void mend(const Failure& failure, std::optional<Instant>& lost_since) override { inner_->mend(failure, lost_since); }

  // Every commit waits for go_on().
  void hold() {
    const std::scoped_lock lock{mutex_};
    held_ = true;
  }
  void wait_for_commits(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return commits_ >= count; });
  }
  void go_on() {
    const std::scoped_lock lock{mutex_};
    held_ = false;
    changed_.notify_all();
  }
  void fail_commit(int number) {
    const std::scoped_lock lock{mutex_};
    failing_ = number;
  }
  int commits() {
    const std::scoped_lock lock{mutex_};
    return commits_;
  }

 private:
  std::unique_ptr<Database> inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int commits_ = 0;
  bool held_ = false;
  int failing_ = 0;
};

class SqlStoreTest : public testing::Test {
 protected:
  SqlStoreTest() {
    for (std::size_t index = 0; index < jobs_.size(); ++index) {
      jobs_.at(index) = store_.find_or_create("job " + std::to_string(index), test::one_limit_job(), {}, {}).id;
    }
    before_ = database_->commits();
  }
  void TearDown() override {
    database_->go_on();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  // Appends on its own thread; `said` becomes "true", "false" or the kind of the failure.
  void append(JobId job, std::uint64_t after, std::string& said) {
    threads_.emplace_back([this, job, after, &said] {
      try {
        said = store_.append(job, after, bodies_, {}, {}) ? "true" : "false";
      } catch (const Error& error) {
        said = to_string(error.kind());
      }
    });
  }
  // Waits until `count` writes wait for the current commit.
  void wait_for(std::size_t count) {
    while (store_.waiting() < count) {
      std::this_thread::yield();
    }
  }
  void finish() {
    database_->go_on();
    for (std::thread& thread : std::exchange(threads_, {})) {
      thread.join();
    }
  }
  std::size_t length(JobId job) { return store_.entries(job, 0, test::all_entries).size(); }

  test::TemporaryFolder folder_;
  SlowDatabase* database_ = nullptr;
  SqlStore store_ = [this] {
    auto database =
        std::make_unique<SlowDatabase>(open_sqlite(folder_.path() / "jobs", Access::create, Journal::write_ahead));
    database_ = database.get();
    migrate(*database, "the test's", false);
    return SqlStore{std::move(database)};
  }();
  std::array<JobId, 5> jobs_{};
  int before_ = 0;
  const std::vector<records::JobEntryBody> bodies_ = {records::RecurrenceGivenUp{.recurrence = 0, .reason = "r"},
                                                      records::RecurrenceGivenUp{.recurrence = 1, .reason = "r"}};
  std::vector<std::thread> threads_;
};

TEST_F(SqlStoreTest, AppendsThatArriveDuringAFlushShareTheNextTransaction) {
  database_->hold();
  std::array<std::string, 5> said;
  append(jobs_[0], 0, said[0]);
  database_->wait_for_commits(before_ + 1);
  for (std::size_t index = 1; index < jobs_.size(); ++index) {
    append(jobs_.at(index), 0, said.at(index));
  }
  wait_for(jobs_.size() - 1);
  const WriteCount before = store_.written();
  finish();
  EXPECT_EQ(database_->commits() - before_, 2);
  const WriteCount after = store_.written();
  EXPECT_EQ(after.writes - before.writes, jobs_.size());
  EXPECT_EQ(after.flushes - before.flushes, 2U);
  for (std::size_t index = 0; index < jobs_.size(); ++index) {
    EXPECT_EQ(said.at(index), "true");
    EXPECT_EQ(length(jobs_.at(index)), bodies_.size());
  }
}

TEST_F(SqlStoreTest, AFailureOfOneWriteDoesNotAffectTheOthers) {
  store_.forget("job 4");
  before_ = database_->commits();
  database_->hold();
  std::array<std::string, 5> said;
  append(jobs_[0], 0, said[0]);
  database_->wait_for_commits(before_ + 1);
  append(jobs_[1], 0, said[1]);
  append(jobs_[2], 7, said[2]);
  append(jobs_[4], 0, said[3]);
  append(jobs_[0], 0, said[4]);
  wait_for(4);
  finish();
  EXPECT_EQ(said, (std::array<std::string, 5>{"true", "true", "false", "not found", "false"}));
  EXPECT_EQ(length(jobs_[0]), 2U);
  EXPECT_EQ(length(jobs_[1]), 2U);
  EXPECT_EQ(length(jobs_[2]), 0U);
}

TEST_F(SqlStoreTest, OfTwoAppendsToTheSameHistoryOneSucceeds) {
  database_->hold();
  std::array<std::string, 3> said;
  append(jobs_[0], 0, said[0]);
  database_->wait_for_commits(before_ + 1);
  append(jobs_[1], 0, said[1]);
  append(jobs_[1], 0, said[2]);
  wait_for(2);
  finish();
  EXPECT_EQ((said[1] == "true") + (said[2] == "true"), 1);
  EXPECT_EQ((said[1] == "false") + (said[2] == "false"), 1);
  EXPECT_EQ(length(jobs_[1]), 2U);
}

TEST_F(SqlStoreTest, AFailedTransactionFailsForAllAndLeavesNothing) {
  database_->hold();
  std::array<std::string, 4> said;
  append(jobs_[0], 0, said[0]);
  database_->wait_for_commits(before_ + 1);
  database_->fail_commit(before_ + 2);
  for (std::size_t index = 1; index < said.size(); ++index) {
    append(jobs_.at(index), 0, said.at(index));
  }
  wait_for(3);
  finish();
  EXPECT_EQ(said, (std::array<std::string, 4>{"true", "unavailable", "unavailable", "unavailable"}));
  EXPECT_EQ(length(jobs_[1]), 0U);
  EXPECT_TRUE(store_.append(jobs_[1], 0, bodies_, {}, {}));
  EXPECT_EQ(length(jobs_[1]), 2U);
}

TEST_F(SqlStoreTest, ShortWritesShareATransactionWithAppends) {
  database_->hold();
  std::array<std::string, 2> said;
  append(jobs_[0], 0, said[0]);
  database_->wait_for_commits(before_ + 1);
  append(jobs_[1], 0, said[1]);
  const std::array<Sign, 1> sign = {{{.recurrence = 7, .count = 1}}};
  const std::vector<std::function<void()>> writes = {
      [&] { store_.beat(jobs_[0], 7, "readings", {}); },
      [&] { store_.sight(jobs_[0], "here", sign, {}); },
      [&] { store_.keep_snapshot(jobs_[2], {.key = "k", .sequence = 1, .state = "s"}); },
      [&] { store_.keep_checkpoint(jobs_[2], {.key = "k", .sequence = 1, .state = "s"}); },
  };
  for (const auto& write : writes) {
    threads_.emplace_back(write);
  }
  wait_for(writes.size() + 1);
  finish();
  EXPECT_EQ(database_->commits() - before_, 2);
  EXPECT_EQ(said, (std::array<std::string, 2>{"true", "true"}));
  EXPECT_EQ(store_.beats(jobs_[0])[7], 1U);
  EXPECT_TRUE(store_.snapshot(jobs_[2], "k"));
  EXPECT_TRUE(store_.checkpoint_before(jobs_[2], "k", 1));
}

// A process that opened the store before it was brought up to date does not know summaries.
TEST_F(SqlStoreTest, ASummaryThatAnOlderZeusLeftBehindIsNotExtended) {
  const JobId job = jobs_[0];
  const auto row = [](std::uint64_t entries, std::int64_t day, bool all_days) {
    return Attached{.summary = SummaryRow{.summary = {.name = "job 0",
                                                      .created = {},
                                                      .changed = {},
                                                      .entries = entries,
                                                      .next = {.limit = {}, .profiles = {}, .why = "w"},
                                                      .savings = {},
                                                      .counted = {}},
                                          .days = {{.day = day, .recurrences = 1}},
                                          .all_days = all_days}};
  };
  ASSERT_TRUE(store_.append(job, 0, bodies_, {}, row(2, 1, true)));
  ASSERT_TRUE(store_.append(job, 2, bodies_, {}, row(4, 2, false)));
  EXPECT_EQ(store_.savings(0, 9).all->recurrences, 2U);
  const long long id = job;
  database_->session()
      << "INSERT INTO entries (job, sequence, written, body) SELECT job, 5, written, body FROM entries "
         "WHERE job = :job AND sequence = 4",
      soci::use(id);
  EXPECT_FALSE(store_.summary(job)) << "it covers one entry less";
  ASSERT_TRUE(store_.append(job, 5, bodies_, {}, row(7, 3, false)));
  EXPECT_FALSE(store_.summary(job));
  EXPECT_FALSE(store_.savings(0, 9).all) << "a day is missing";
  EXPECT_EQ(store_.without_summary().size(), jobs_.size());
  ASSERT_TRUE(store_.append(job, 7, bodies_, {}, row(9, 3, true)));
  EXPECT_EQ(store_.summary(job)->entries, 9U);
}

}  // namespace
}  // namespace zeus::store
