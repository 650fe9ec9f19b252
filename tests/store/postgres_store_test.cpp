// PostgreSQL's promises beyond those of every store (job_store_conformance_test.cpp): a write is done once whatever
// happens to its connection, locks do not delay other jobs, and messages contain no passwords.

#include "base/clock.hpp"
#include "store/open_store.hpp"
#include "store/postgres_database.hpp"
#include "tests/support/cutting_proxy.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zeus::store {
namespace {

using test::all_entries;
using test::CuttingProxy;
using test::one_limit_job;
using test::run_sql;
using testing::HasSubstr;
using testing::Not;

// Entries of which any two differ.
std::vector<records::JobEntryBody> bodies(std::uint64_t first, std::size_t count = 1) {
  std::vector<records::JobEntryBody> made;
  for (std::uint64_t number = first; made.size() < count; ++number) {
    made.emplace_back(records::RecurrenceGivenUp{.recurrence = number, .reason = "r"});
  }
  return made;
}

records::JobSummary summary(std::uint64_t entries) {
  return {.name = "job",
          .created = {},
          .changed = {},
          .entries = entries,
          .next = {.limit = {}, .profiles = {}, .max_epochs = {}, .budget = {}, .why = "w"},
          .savings = {},
          .counted = {}};
}

std::uint64_t number_of(const records::JobEntry& entry) {
  return std::get<records::RecurrenceGivenUp>(entry.body).recurrence;
}

class PostgresStore : public testing::Test, protected test::Failures {
 protected:
  std::unique_ptr<JobStore> open(Access access = Access::create) { return open_store(address(), access, clock_); }
  [[nodiscard]] std::string address(std::string_view user = "zeus") const {
    return test::PostgresServer::address(database_, server_.folder(), user);
  }
  std::string sql(const std::string& statements) const { return run_sql(address(), statements); }

  test::PostgresServer& server_ = test::PostgresServer::of_program();
  std::string database_ = server_.make_database();
  VirtualClock clock_;
};

TEST_F(PostgresStore, AWriteIsDoneOnceWhereverItsConnectionIsCut) {
  const test::TemporaryFolder folder;
  CuttingProxy proxy{folder.path() / ".s.PGSQL.5432", server_.folder() / ".s.PGSQL.5432"};
  const auto store = open_store(test::PostgresServer::address(database_, folder.path()), Access::create, clock_);
  const auto direct = open();
  const JobId job = store->find_or_create("job", one_limit_job(), {}).id;
  std::uint64_t length = 0;
  int round = 0;

  // Each makes one change and checks that it was made once.
  const std::vector<std::function<void()>> writes = {
      [&] {
        ASSERT_TRUE(store->append(job, length, bodies(length, 2), WallTime{5}));
        const auto entries = direct->entries(job, length, all_entries);
        ASSERT_EQ(entries.size(), 2U);
        EXPECT_EQ(number_of(entries[0]), length);
        EXPECT_EQ(number_of(entries[1]), length + 1);
        length += 2;
      },
      [&] {
        // An identical entry, which still counts as another one.
        EXPECT_FALSE(store->append(job, length - 2, bodies(length - 2, 2), WallTime{5}));
        EXPECT_TRUE(direct->entries(job, length, all_entries).empty());
      },
      [&] {
        const Attached attached{
            .request = {.key = std::to_string(length), .asked = "this"},
            .summary = SummaryRow{.summary = summary(length + 2), .days = {{.day = 1, .recurrences = length}}}};
        ASSERT_TRUE(store->append(job, length, bodies(length, 2), WallTime{5}, attached));
        EXPECT_EQ(direct->find("job")->length, length + 2);
        EXPECT_EQ(direct->find_request(job, attached.request.key)->sequence, length + 1);
        EXPECT_EQ(direct->summary(job)->entries, length + 2);
        EXPECT_EQ(direct->savings(1, 1).all->recurrences, length);
        length += 2;
      },
      [&] {
        // A recorded request, repeated by a client that does not know that yet.
        const Attached attached{.request = {.key = "once", .asked = "this"}, .summary = {}};
        const bool known = direct->find_request(job, "once").has_value();
        EXPECT_EQ(store->append(job, length, bodies(length), WallTime{5}, attached), !known);
        length += known ? 0 : 1;
        EXPECT_EQ(direct->find("job")->length, length);
      },
      [&] {
        store->keep_summary(job, {.summary = summary(length), .days = {{.day = round, .recurrences = 3}}});
        EXPECT_EQ(direct->summary(job)->entries, length);
        EXPECT_EQ(direct->savings(-1000, 100000).all->recurrences, 3U);
        store->drop_summaries();
        EXPECT_FALSE(direct->summary(job));
      },
      [&] {
        const auto sequence = static_cast<std::uint64_t>(round) + 1;
        store->keep_checkpoint(job, {.key = "k", .sequence = sequence, .state = "s"});
        EXPECT_EQ(direct->checkpoint_before(job, "k", sequence)->sequence, sequence);
      },
      [&] {
        const std::string name = "imported " + std::to_string(round);
        const std::vector<records::JobEntry> entries = {{.sequence = 1, .written = {}, .body = bodies(7).front()}};
        GivenEntries given{entries};
        EXPECT_EQ(store->import(name, one_limit_job(), {}, given).length, 1U);
        EXPECT_EQ(direct->find(name)->length, 1U);
        EXPECT_EQ(failure_of([&] { store->import(name, one_limit_job(), {}, given); }).kind(),
                  ErrorKind::already_exists);
        EXPECT_TRUE(store->forget(name));
        EXPECT_FALSE(store->forget(name));
      },
      [&] {
        const std::string name = "made " + std::to_string(round);
        const JobId made = store->find_or_create(name, one_limit_job(), {}).id;
        EXPECT_EQ(direct->find(name)->id, made);
      },
      [&] {
        const std::uint64_t before = direct->beats(job)[0];
        store->beat(job, 0, "readings", WallTime{round});
        EXPECT_EQ(direct->beats(job)[0], before + 1);
        EXPECT_EQ(direct->readings(job).at(0).written, WallTime{round});
      },
      [&] {
        const auto sequence = static_cast<std::uint64_t>(round) + 1;
        store->keep_snapshot(job, {.key = "k", .sequence = sequence, .state = "s"});
        EXPECT_EQ(direct->snapshot(job, "k")->sequence, sequence);
      },
      [&] {
        const auto beat = static_cast<std::uint64_t>(round) + 1;
        const std::array<Sign, 1> sign = {{{.recurrence = 0, .count = beat}}};
        EXPECT_EQ(store->sight(job, "here", sign, Instant{round}), std::vector{Instant{round}});
        EXPECT_EQ(store->sight(job, "here", sign, Instant{99}), std::vector{Instant{round}});
      },
      [&] { EXPECT_EQ(store->entries(job, 0, all_entries).size(), length); }};
  int moments = 0;
  for (const auto& write : writes) {
    for (const CuttingProxy::Way way : {CuttingProxy::Way::before, CuttingProxy::Way::after}) {
      // Until the write is done before the counted message.
      for (int message = 1;; ++message, ++round) {
        const int before = proxy.cuts();
        proxy.cut_at(message, way);
        write();
        proxy.stop_cutting();
        if (HasFatalFailure() || proxy.cuts() == before) {
          break;
        }
        ++moments;
      }
    }
  }
  EXPECT_GT(moments, 100) << "the write was not cut at every message";
}

TEST_F(PostgresStore, ContinuesAfterItsConnectionIsEnded) {
  const auto store = open();
  const JobId job = store->find_or_create("job", one_limit_job(), {}).id;
  for (std::uint64_t length = 0; length < 5; ++length) {
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
        "pg_backend_pid()");
    EXPECT_TRUE(store->append(job, length, bodies(length), {}));
  }
  EXPECT_EQ(store->entries(job, 0, all_entries).size(), 5U);
}

TEST_F(PostgresStore, AnAppendLocksItsJobsRowAndNothingElse) {
  const test::TemporaryFolder folder;
  CuttingProxy proxy{folder.path() / ".s.PGSQL.5432", server_.folder() / ".s.PGSQL.5432"};
  const auto held = open_store(test::PostgresServer::address(database_, folder.path()), Access::create, clock_);
  const auto other = open();
  const JobId job = other->find_or_create("job", one_limit_job(), {}).id;
  const JobId another = other->find_or_create("another", one_limit_job(), {}).id;
  // All of an append except its COMMIT, by a client that then stops: the seventh request is the COMMIT.
  constexpr int messages_before_commit = 12;
  proxy.hold_at(messages_before_commit + 1);
  std::future<bool> slow = std::async(std::launch::async, [&] { return held->append(job, 0, bodies(0), {}); });
  proxy.wait_until_held();
  EXPECT_EQ(sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"), "1");
  EXPECT_TRUE(other->append(another, 0, bodies(0), {}));
  other->beat(job, 0);
  other->sight(job, "here", std::array<Sign, 1>{{{.recurrence = 0, .count = 1}}}, {});
  other->keep_snapshot(job, {.key = "k", .sequence = 0, .state = "s"});
  EXPECT_EQ(other->entries(job, 0, all_entries).size(), 0U);
  EXPECT_EQ(other->find("job")->length, 0U);
  other->find_or_create("a third", one_limit_job(), {});
  EXPECT_TRUE(other->forget("another"));
  std::atomic<bool> appended = false;
  std::future<bool> next = std::async(std::launch::async, [&] {
    const bool done = other->append(job, 1, bodies(1), {});
    appended = true;
    return done;
  });
  while (!appended && sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
                          "current_database()") != "1") {
    std::this_thread::yield();
  }
  EXPECT_FALSE(appended) << "an append to the same history waits";
  proxy.go_on();
  EXPECT_TRUE(slow.get());
  EXPECT_TRUE(next.get());
}

TEST_F(PostgresStore, GivesUpAfterAMinuteOfItsClockAndGoesOnOnceTheServerIsBack) {
  const auto store = open();
  const JobId job = store->find_or_create("job", one_limit_job(), {}).id;
  server_.kill();
  const Instant before = clock_.now();
  const Error away = failure_of([&] { store->append(job, 0, bodies(0), {}); });
  EXPECT_EQ(away.kind(), ErrorKind::unavailable) << away.what();
  EXPECT_THAT(away.what(), HasSubstr("does not answer"));
  EXPECT_NEAR((clock_.now() - before).value(), patience_with_the_lost.value(), 2.0);
  const Instant opening = clock_.now();
  EXPECT_EQ(failure_of([&] { open(); }).kind(), ErrorKind::unavailable);
  EXPECT_NEAR((clock_.now() - opening).value(), patience_when_opening.value(), 1.5);
  server_.start();
  EXPECT_TRUE(store->append(job, 0, bodies(0), {}));
  EXPECT_EQ(open()->entries(job, 0, all_entries).size(), 1U);
}

TEST_F(PostgresStore, KilledWhileManyWriteItLosesNothingInRealTime) {
  constexpr int writers = 4;
  constexpr int kills = 2;
  constexpr int between_kills = 20;
  SystemClock clock;
  const JobId job = open()->find_or_create("job", one_limit_job(), {}).id;
  std::atomic<bool> enough = false;
  std::atomic<int> opened = 0;
  std::atomic<int> appends = 0;
  std::vector<std::future<std::vector<std::uint64_t>>> acknowledged;
  for (int writer = 0; writer < writers; ++writer) {
    acknowledged.push_back(std::async(std::launch::async, [&, writer] {
      std::vector<std::uint64_t> done;
      const auto store = open_store(address(), Access::create, clock);
      ++opened;
      for (std::uint64_t count = 0; !enough; ++count) {
        const std::uint64_t number = count * writers + static_cast<std::uint64_t>(writer);
        while (!store->append(job, store->find("job")->length, bodies(number), {})) {
        }
        done.push_back(number);
        ++appends;
      }
      return done;
    }));
  }
  const auto wait_for = [&](int count) {
    while (opened < writers || appends < count) {  // opening has less patience than writing
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  };
  for (int kill = 1; kill <= kills; ++kill) {
    wait_for(kill * between_kills);
    server_.kill();
    server_.start();
  }
  wait_for((kills + 1) * between_kills);
  enough = true;
  std::vector<std::uint64_t> expected;
  for (auto& each : acknowledged) {
    const std::vector<std::uint64_t> done = each.get();
    expected.insert(expected.end(), done.begin(), done.end());
  }
  std::vector<std::uint64_t> found;
  std::uint64_t sequence = 0;
  for (const records::JobEntry& entry : open()->entries(job, 0, all_entries)) {
    EXPECT_EQ(entry.sequence, ++sequence);
    found.push_back(number_of(entry));
  }
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected) << "acknowledged, and on record";
}

TEST_F(PostgresStore, ItsCommitsAreDurableUnderAnyDatabaseSetting) {
  const auto setting = [&](const std::string& said) {
    sql("ALTER DATABASE " + database_ + " SET synchronous_commit = " + said);
    const auto database = open_postgres(postgres_address(address()), Access::create, clock_);
    std::string value;
    database->session() << "SELECT current_setting('synchronous_commit')", soci::into(value);
    return value;
  };
  EXPECT_EQ(setting("off"), "on");
  EXPECT_EQ(setting("local"), "on");
  EXPECT_EQ(setting("remote_write"), "on");
  EXPECT_EQ(setting("remote_apply"), "remote_apply") << "which is stricter";
  sql("ALTER DATABASE " + database_ + " SET default_transaction_isolation = 'serializable'");
  const auto database = open_postgres(postgres_address(address()), Access::create, clock_);
  std::string value;
  database->session() << "SELECT current_setting('transaction_isolation')", soci::into(value);
  EXPECT_EQ(value, "read committed");
}

TEST_F(PostgresStore, AForkedChildLeavesTheConnectionToItsParent) {
  auto database = open_postgres(postgres_address(address()), Access::create, clock_);
  const auto served_by = [&] {
    long long process = 0;
    database->session() << "SELECT pg_backend_pid()", soci::into(process);
    return process;
  };
  const long long before = served_by();
  const pid_t child = ::fork();
  if (child == 0) {
    database.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(served_by(), before);
}

TEST_F(PostgresStore, CreatesNothingIfItMayOnlyRead) {
  EXPECT_EQ(failure_of([&] { open(Access::read_only); }).kind(), ErrorKind::not_found);
  EXPECT_EQ(failure_of([&] { open(Access::existing); }).kind(), ErrorKind::not_found);
  EXPECT_EQ(sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
  open()->find_or_create("job", one_limit_job(), {});
  const auto store = open(Access::read_only);
  EXPECT_EQ(store->names().size(), 1U);
  EXPECT_EQ(failure_of([&] { store->beat(1, 0); }).kind(), ErrorKind::permission_denied);
}

TEST_F(PostgresStore, SaysWhatIsWrong) {
  sql("CREATE TABLE jobs (salary BIGINT)");
  EXPECT_EQ(failure_of([&] { open(); }).kind(), ErrorKind::corrupt_data);
  sql("DROP TABLE jobs");
  open();
  sql("INSERT INTO zeus_store (migration) VALUES (8)");
  EXPECT_THAT(failure_of([&] { open(); }).message(), HasSubstr("newer Zeus: its format is 8"));

  const Instant before = clock_.now();
  const auto of = [&](std::string_view database) {
    return failure_of([&] { open_store(server_.address(database), Access::create, clock_); });
  };
  EXPECT_EQ(of("none").kind(), ErrorKind::not_found);
  EXPECT_EQ(of(server_.make_database("ENCODING LATIN1 TEMPLATE template0")).kind(), ErrorKind::unavailable);
  EXPECT_EQ(clock_.now(), before) << "a permanent error is reported at once";
  const std::string full = server_.make_database("CONNECTION LIMIT 0");
  run_sql(server_.address("postgres"), "CREATE ROLE crowded LOGIN PASSWORD 'x'");
  EXPECT_THAT(failure_of([&] {
                open_store("postgresql://crowded:x@/" + full + "?host=" + server_.folder().string(), Access::create,
                           clock_);
              }).message(),
              HasSubstr("has no free connection"));
  const JobId job = 1;
  const auto store = open_store(server_.address(server_.make_database()), Access::create, clock_);
  EXPECT_EQ(failure_of([&] { store->find_or_create("\xff", one_limit_job(), {}); }).kind(),
            ErrorKind::invalid_argument);
  EXPECT_EQ(failure_of([&] { store->append(job, 0, bodies(0), {}); }).kind(), ErrorKind::not_found);
}

TEST_F(PostgresStore, RequiresThePasswordAndNeverShowsIt) {
  run_sql(server_.address("postgres"), "CREATE ROLE ann LOGIN PASSWORD 'it''s /a @ secret = \"%'");
  sql("GRANT ALL ON SCHEMA public TO ann");
  const std::string host = "/" + database_ + "?host=" + server_.folder().string();
  const auto open_as = [&](const std::string& who) {
    return open_store("postgresql://" + who + host, Access::create, clock_);
  };
  open_as("ann:it%27s%20%2Fa%20%40%20secret%20%3D%20%22%25@")->find_or_create("job", one_limit_job(), {});
  EXPECT_EQ(shown_location("postgresql://ann:it%27s@host:7/jobs?password=more"), "postgresql://ann@host:7/jobs");

  const Instant before = clock_.now();
  for (const std::string who : {"ann:secret%20of%20hers@", "ann@"}) {
    const Error wrong = failure_of([&] { open_as(who); });
    EXPECT_EQ(wrong.kind(), ErrorKind::permission_denied) << wrong.what();
    EXPECT_THAT(wrong.what(), Not(HasSubstr("secret")));
  }
  EXPECT_EQ(clock_.now(), before) << "and is refused at once";
  // Addresses whose password would be taken for a host or database, and shown.
  for (const std::string address :
       {"postgresql://ann:secret@more@host/jobs", "postgresql://ann:1/secret@host/jobs", "postgresql://ann:secret",
        "postgresql://ann:secret?@host/jobs", "postgresql:ann:secret", "postgresql://ann@host/jobs?passwd=secret"}) {
    const Error wrong = failure_of([&] { open_store(address, Access::create, clock_); });
    EXPECT_EQ(wrong.kind(), ErrorKind::invalid_argument) << wrong.what();
    EXPECT_THAT(wrong.what(), Not(HasSubstr("secret")));
  }
}

TEST_F(PostgresStore, LeavesToLibpqWhatIsLibpqs) {
  // On this socket sslmode changes nothing, but a wrong value shows that it is read.
  open_store(address() + "&sslmode=verify-full", Access::create, clock_);
  const Error wrong = failure_of([&] { open_store(address() + "&sslmode=perhaps", Access::create, clock_); });
  EXPECT_THAT(wrong.what(), HasSubstr("sslmode"));
}

}  // namespace
}  // namespace zeus::store
