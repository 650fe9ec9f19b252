// What every store promises (store/job_store.hpp), on each database there is. A new one adds itself to `subjects`.

#include "base/clock.hpp"
#include "base/random.hpp"
#include "store/migrations.hpp"
#include "store/open_store.hpp"
#include "store/sql_store.hpp"
#include "store/sqlite_database.hpp"
#include "tests/support/cutting_proxy.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace zeus::store {
namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

// Opens the one database of a test; any number of times, by any number of threads.
using Home = std::function<std::unique_ptr<JobStore>()>;

struct Subject {
  const char* name;
  std::function<Home()> make;

  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }
};

Subject sqlite(const char* name, Journal journal) {
  return {.name = name, .make = [journal]() -> Home {
            const auto folder = std::make_shared<test::TemporaryFolder>();
            return [folder, journal]() -> std::unique_ptr<JobStore> {
              auto database = open_sqlite(folder->path() / "jobs.sqlite", Access::create, journal);
              migrate(*database, "the test's", false);
              return std::make_unique<SqlStore>(std::move(database));
            };
          }};
}

std::unique_ptr<JobStore> open_there(const std::string& address) {
  static SystemClock clock;
  return open_store(address, Access::create, clock);
}

Subject postgresql() {
  return {.name = "postgresql", .make = []() -> Home {
            test::PostgresServer& server = test::PostgresServer::of_program();
            return [address = server.address(server.make_database())] { return open_there(address); };
          }};
}

// The same with its connections cut at random moments, which nobody who uses the store may notice.
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

Subject postgresql_cut() {
  return {.name = "postgresql_cut",
          .make = []() -> Home { return [home = std::make_shared<CutHome>()] { return home->open(); }; }};
}

class JobStoreConformance : public testing::TestWithParam<Subject> {
 public:
  static void TearDownTestSuite() {
    constexpr int tests = 10;
    if (CutHome::homes >= tests) {
      std::cout << "connections were cut " << CutHome::cuts << " times\n";
      EXPECT_GE(CutHome::cuts, 50);
    }
  }

 protected:
  [[nodiscard]] std::unique_ptr<JobStore> open() const { return home_(); }

  Home home_ = GetParam().make();
  std::unique_ptr<JobStore> store_ = home_();
};

records::JobDefinition definition() {
  return {.batch_sizes = {16, 32},
          .default_batch_size = 16,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 20,
          .policy = "zeus",
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 2, .max_power = 500_W, .power_limits = {100_W, 250_W}}};
}

records::JobEntryBody begun(std::uint64_t recurrence) {
  return records::RecurrenceBegun{
      .recurrence = recurrence,
      .owner = {.host = "here", .place = "boot", .process = {.pid = 7, .started = 9, .command = "zeus"}},
      .device = definition().device};
}

// A text that no SQL statement and no JSON may trip over.
constexpr const char* odd_text = "it's \"odd\"; DROP TABLE jobs; -- \\ \xc3\xa9 :name";

std::vector<records::JobEntryBody> one_of_each() {
  const records::Energy energy{.value = Joules{0.1}, .uncertainty = Joules{1e-17}, .systematic = Joules{3.0}};
  return {begun(0),
          records::TryStarted{.event = {.try_number = 0, .recurrence = 0, .batch_size = 16},
                              .limit = {},
                              .max_epochs = 20,
                              .budget = Joules{1.0 / 3.0},
                              .seed = std::numeric_limits<std::uint64_t>::max()},
          records::ProfileTaken{.event = {.recurrence = 0,
                                          .batch_size = 16,
                                          .limits = {{100_W, 3_s, 90_W}, {250_W, 2_s, 200_W}},
                                          .energy = Joules{5e-324},
                                          .time = 1_s},
                                .gpus = {{.gpu = "GPU-1", .energy = energy}}},
          records::EpochsRun{.try_number = 0, .recurrence = 0, .epochs = 3, .metric = -0.25, .gpus = {}, .time = 9_s},
          records::TryFinished{.event = {.try_number = 0,
                                         .recurrence = 0,
                                         .batch_size = 16,
                                         .outcome = records::TryOutcome::stopped,
                                         .epochs = 5,
                                         .energy = Joules{1e300},
                                         .time = 10_s},
                               .gpus = {{.gpu = odd_text, .energy = energy}, {.gpu = "GPU-2", .energy = energy}},
                               .limit = 100_W,
                               .metric = 0.5,
                               .exit_code = 143,
                               .left_out = odd_text},
          records::RecurrenceGivenUp{.recurrence = 0, .reason = odd_text},
          records::DeviceMoved{.device = {.model = odd_text, .max_power = 300_W, .power_limits = {300_W}}}};
}

std::string text_of(const std::vector<records::JobEntry>& entries) {
  std::string text;
  for (const records::JobEntry& entry : entries) {
    text += records::to_json(entry) + "\n";
  }
  return text;
}

TEST_P(JobStoreConformance, KeepsAJobAsItWasDefinedUnderItsName) {
  EXPECT_FALSE(store_->find(odd_text));
  const StoredJob made = store_->find_or_create(odd_text, definition(), WallTime{-5});
  EXPECT_EQ(made.length, 0U);
  const StoredJob again = store_->find_or_create(odd_text, {}, WallTime{99});
  EXPECT_EQ(again.id, made.id);
  EXPECT_EQ(again.definition, definition());
  EXPECT_EQ(again.created, WallTime{-5});
  store_->find_or_create("a", definition(), {});
  // By their bytes, whatever the database's language.
  store_->find_or_create("B", definition(), {});
  EXPECT_EQ(open()->names(), (std::vector<std::string>{"B", "a", odd_text}));
}

TEST_P(JobStoreConformance, GivesBackEveryKindOfEntryExactlyAndInOrder) {
  const JobId job = store_->find_or_create("job", definition(), {}).id;
  const std::vector<records::JobEntryBody> bodies = one_of_each();
  ASSERT_TRUE(store_->append(job, 0, bodies, WallTime{1'700'000'000'000'000}));
  std::vector<records::JobEntry> expected;
  for (const records::JobEntryBody& body : bodies) {
    expected.push_back({.sequence = expected.size() + 1, .written = WallTime{1'700'000'000'000'000}, .body = body});
  }
  EXPECT_EQ(text_of(open()->entries(job, 0, all)), text_of(expected));
  EXPECT_EQ(text_of(store_->entries(job, 2, 2)), text_of({expected[2], expected[3]}));
  EXPECT_TRUE(store_->entries(job, bodies.size(), all).empty());
  EXPECT_EQ(store_->find("job")->length, bodies.size());
}

TEST_P(JobStoreConformance, AppendsOnlyToTheHistoryThatWasReadAndAllOrNothing) {
  const JobId job = store_->find_or_create("job", definition(), {}).id;
  const std::vector<records::JobEntryBody> two = {begun(0), begun(1)};
  EXPECT_FALSE(store_->append(job, 1, two, {}));
  EXPECT_TRUE(store_->append(job, 0, two, {}));
  EXPECT_FALSE(store_->append(job, 0, two, {}));
  EXPECT_FALSE(open()->append(job, 1, two, {}));
  EXPECT_TRUE(open()->append(job, 2, two, {}));
  EXPECT_EQ(store_->entries(job, 0, all).size(), 4U);
}

TEST_P(JobStoreConformance, ForgetsAJobWholeAndNeverUsesItsNumberAgain) {
  const JobId first = store_->find_or_create("job", definition(), {}).id;
  ASSERT_TRUE(store_->append(first, 0, one_of_each(), {}));
  store_->keep_snapshot(first, {.key = "k", .sequence = 1, .state = "s"});
  store_->beat(first, 0);
  EXPECT_TRUE(store_->forget("job"));
  EXPECT_FALSE(store_->forget("job"));
  try {
    store_->append(first, 0, one_of_each(), {});
    FAIL() << "appended to a job that is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
  const StoredJob second = store_->find_or_create("job", definition(), {});
  EXPECT_NE(second.id, first);
  EXPECT_EQ(second.length, 0U);
  EXPECT_FALSE(store_->snapshot(first, "k"));
  EXPECT_EQ(store_->beats(first, 0), 0U);
}

TEST_P(JobStoreConformance, ImportsAHistoryUnderNewNumbersUnlessTheNameIsTaken) {
  std::vector<records::JobEntry> entries;
  for (const records::JobEntryBody& body : one_of_each()) {
    entries.push_back({.sequence = 1000, .written = WallTime{77}, .body = body});
  }
  const StoredJob job = store_->import("job", definition(), WallTime{5}, entries);
  EXPECT_EQ(job.length, entries.size());
  EXPECT_EQ(store_->find("job")->length, entries.size());
  EXPECT_EQ(store_->entries(job.id, 6, all).at(0).sequence, 7U);
  EXPECT_EQ(store_->entries(job.id, 6, all).at(0).written, WallTime{77});
  try {
    store_->import("job", definition(), {}, {});
    FAIL() << "imported over a job";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::already_exists);
  }
}

TEST_P(JobStoreConformance, KeepsTheNewestSnapshotOfAJob) {
  const JobId job = store_->find_or_create("job", definition(), {}).id;
  EXPECT_FALSE(store_->snapshot(job, "zeus 1"));
  store_->keep_snapshot(job, {.key = "zeus 1", .sequence = 10, .state = odd_text});
  store_->keep_snapshot(job, {.key = "zeus 1", .sequence = 9, .state = "older"});
  EXPECT_EQ(open()->snapshot(job, "zeus 1")->state, odd_text);
  EXPECT_EQ(store_->snapshot(job, "zeus 1")->sequence, 10U);
  EXPECT_FALSE(store_->snapshot(job, "zeus 2"));
  store_->keep_snapshot(job, {.key = "zeus 2", .sequence = 3, .state = "another"});
  EXPECT_FALSE(store_->snapshot(job, "zeus 1"));
  EXPECT_EQ(store_->snapshot(job, "zeus 2")->sequence, 3U);
  store_->drop_snapshots();
  EXPECT_FALSE(store_->snapshot(job, "zeus 2"));
}

TEST_P(JobStoreConformance, NotesSinceWhenABeatStandsStill) {
  const JobId job = store_->find_or_create("job", definition(), {}).id;
  EXPECT_EQ(store_->beats(job, 0), 0U);
  EXPECT_EQ(store_->sight(job, 0, "there", 0, Instant{100}).since, Instant{100});
  EXPECT_EQ(store_->sight(job, 0, "there", 0, Instant{900}).since, Instant{100});
  EXPECT_EQ(store_->sight(job, 0, "elsewhere", 0, Instant{5}).since, Instant{5});
  store_->beat(job, 0);
  store_->beat(job, 0);
  EXPECT_EQ(open()->beats(job, 0), 2U);
  EXPECT_EQ(store_->beats(job, 1), 0U);
  EXPECT_EQ(store_->sight(job, 0, "there", 2, Instant{1000}).since, Instant{1000});
  EXPECT_EQ(open()->sight(job, 0, "there", 2, Instant{2000}).since, Instant{1000});
}

TEST_P(JobStoreConformance, ThreadsAndConnectionsNeverGiveANumberTwice) {
  const JobId job = store_->find_or_create("job", definition(), {}).id;
  constexpr int threads = 4;
  constexpr int rounds = 25;
  std::atomic<int> refused = 0;
  const auto work = [&](JobStore& store) {
    for (int done = 0; done < rounds;) {
      const std::uint64_t length = store.find("job")->length;
      const std::vector<records::JobEntryBody> next = {begun(length)};
      if (store.append(job, length, next, {})) {
        ++done;
      } else {
        ++refused;
      }
    }
  };
  std::vector<std::unique_ptr<JobStore>> own;
  std::vector<std::thread> running;
  for (int index = 0; index < threads; ++index) {
    own.push_back(open());
    running.emplace_back(work, std::ref(*own.back()));
    running.emplace_back(work, std::ref(*store_));
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  const std::vector<records::JobEntry> entries = store_->entries(job, 0, all);
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(2 * threads * rounds));
  for (std::size_t index = 0; index < entries.size(); ++index) {
    EXPECT_EQ(entries[index].sequence, index + 1);
    EXPECT_EQ(std::get<records::RecurrenceBegun>(entries[index].body).recurrence, index);
  }
}

TEST_P(JobStoreConformance, AppendsThatComeTogetherAreEachJudgedByItself) {
  constexpr std::uint64_t jobs = 6;
  constexpr std::uint64_t rounds = 20;
  std::array<JobId, jobs> ids{};
  for (std::size_t index = 0; index < jobs; ++index) {
    ids.at(index) = store_->find_or_create("job " + std::to_string(index), definition(), {}).id;
  }
  const JobId gone = store_->find_or_create("gone", definition(), {}).id;
  store_->forget("gone");
  std::atomic<int> wrong = 0;
  std::atomic<std::uint64_t> not_found = 0;
  std::atomic<bool> enough = false;
  std::vector<std::thread> running;
  for (const JobId job : ids) {
    running.emplace_back([&, job] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::vector<records::JobEntryBody> two = {begun(2 * round), begun(2 * round + 1)};
        wrong += store_->append(job, 2 * round, two, {}) ? 0 : 1;
        wrong += store_->append(job, 2 * round, two, {}) ? 1 : 0;
      }
    });
  }
  std::thread fails{[&] {
    while (!enough) {
      try {
        store_->append(gone, 0, one_of_each(), {});
        ++wrong;
      } catch (const Error& error) {
        error.kind() == ErrorKind::not_found ? static_cast<void>(++not_found) : static_cast<void>(++wrong);
      }
    }
  }};
  for (std::thread& thread : running) {
    thread.join();
  }
  enough = true;
  fails.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(not_found, 0U);
  for (const JobId job : ids) {
    const std::vector<records::JobEntry> entries = open()->entries(job, 0, all);
    ASSERT_EQ(entries.size(), 2 * rounds);
    for (std::size_t index = 0; index < entries.size(); ++index) {
      EXPECT_EQ(entries[index].sequence, index + 1);
      EXPECT_EQ(std::get<records::RecurrenceBegun>(entries[index].body).recurrence, index);
    }
  }
}

TEST_P(JobStoreConformance, ManyMayMakeItAtOnce) {
  const Home fresh = GetParam().make();
  std::vector<std::thread> running;
  std::array<JobId, 8> made{};
  for (JobId& job : made) {
    running.emplace_back([&] { job = fresh()->find_or_create("job", definition(), {}).id; });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  EXPECT_EQ((std::set<JobId>{made.begin(), made.end()}.size()), 1U);
}

INSTANTIATE_TEST_SUITE_P(Databases, JobStoreConformance,
                         testing::Values(sqlite("sqlite", Journal::write_ahead),
                                         sqlite("sqlite_rollback", Journal::rollback), postgresql(), postgresql_cut()),
                         [](const auto& subject) { return std::string{subject.param.name}; });

}  // namespace
}  // namespace zeus::store
