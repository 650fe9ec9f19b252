#include "store/open_store.hpp"

#include "store/postgres_address.hpp"
#include "store/sqlite_database.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace zeus::store {
namespace {

namespace fs = std::filesystem;

using test::Failures;

std::unique_ptr<JobStore> open(const std::string& location, Access access) {
  static VirtualClock clock;
  return open_store(location, access, clock);
}

Error failure_to_open(const fs::path& file, Access access) {
  return Failures::failure_of([&] { open(file.string(), access); });
}

void run_sql(const fs::path& file, const std::string& statement) {
  open_sqlite(file, Access::create, Journal::rollback)->session() << statement;
}

TEST(OpenStore, IsInTheUsersDataFolder) {
  EXPECT_EQ(default_store(Environment{{{"XDG_DATA_HOME", "/data"}, {"HOME", "/home/ann"}}}), "/data/zeus/jobs.sqlite");
  EXPECT_EQ(default_store(Environment{{{"XDG_DATA_HOME", "relative"}, {"HOME", "/home/ann"}}}),
            "/home/ann/.local/share/zeus/jobs.sqlite");
  EXPECT_EQ(Failures::failure_of([] { default_store(Environment{}); }).kind(), ErrorKind::not_found);
}

TEST(OpenStore, CreatesMissingFoldersAndFindsTheStoreAgain) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "a folder" / "with % and ?" / "jobs.sqlite";
  open(file.string(), Access::create)->find_or_create("job", test::one_limit_job(), {});
  EXPECT_EQ(open("sqlite:" + file.string(), Access::existing)->names().size(), 1U);
  EXPECT_EQ(open(file.string(), Access::read_only)->names().size(), 1U);
}

TEST(OpenStore, CreatesNothingWhenItOnlyReads) {
  const test::TemporaryFolder folder;
  for (const Access access : {Access::existing, Access::read_only}) {
    EXPECT_EQ(failure_to_open(folder.path() / "none", access).kind(), ErrorKind::not_found);
  }
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

TEST(OpenStore, TakesNoWriteOnceItsFileIsNoLongerThere) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  const std::unique_ptr<JobStore> store = open(file.string(), Access::create);
  const auto refusal = [&] {
    EXPECT_EQ(Failures::failure_of([&] { store->check(); }).kind(), ErrorKind::unavailable);
    const Error error = Failures::failure_of([&] { store->find_or_create("job", test::one_limit_job(), {}); });
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    return error.message();
  };
  fs::rename(file, folder.path() / "away");
  EXPECT_EQ(refusal(), "the store " + file.string() + " was removed while it was open");
  std::ofstream{file} << "";
  EXPECT_EQ(refusal(), "the store " + file.string() + " was replaced while it was open");
  fs::rename(folder.path() / "away", file);
  store->check();
  EXPECT_EQ(store->find_or_create("job", test::one_limit_job(), {}).name, "job");
}

TEST(OpenStore, APlaceThatCannotBeLookedAtIsNotAnAbsentStore) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.path() / "a");
  std::filesystem::create_symlink("a", folder.path() / "b");
  VirtualClock clock;
  try {
    (void)open_store((folder.path() / "a" / "jobs.sqlite").string(), Access::read_only, clock);
    FAIL() << "it was opened";
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::not_found);
    EXPECT_NE(error.message().find("cannot look for the store"), std::string::npos) << error.message();
  }
}

TEST(OpenStore, NamesTheEntryThatIsMissingOrCannotBeRead) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  std::unique_ptr<JobStore> store = open(file.string(), Access::create);
  const StoredJob job = store->find_or_create("job", test::one_limit_job(), {});
  const records::JobEntryBody moved = records::DeviceMoved{.device = test::one_limit_job().device};
  EXPECT_TRUE(store->append(job.id, 0, std::vector{moved, moved, moved}, {}));
  store.reset();
  const auto refusal = [&] {
    const Error error = Failures::failure_of([&] { open(file.string(), Access::read_only)->entries(job.id, 0, 10); });
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    return error.message();
  };
  run_sql(file, R"(UPDATE entries SET body = replace(body, '"gpus":1', '"gpus":1e200') WHERE sequence = 3)");
  EXPECT_TRUE(
      refusal().starts_with("entry 3 of its history: this is not an entry of a job's history: its 'device.gpus'"))
      << refusal();
  run_sql(file, "DELETE FROM entries WHERE sequence = 2");
  EXPECT_EQ(refusal(), "entry 2 of its history is missing");
}

TEST(OpenStore, RefusesTheStoreOfANewerZeus) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  open(file.string(), Access::create);
  run_sql(file, "INSERT INTO zeus_store (migration) VALUES (8)");
  for (const Access access : {Access::create, Access::existing, Access::read_only}) {
    const Error error = failure_to_open(file, access);
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_NE(error.message().find("newer Zeus: its format is 8"), std::string::npos) << error.what();
  }
}

TEST(OpenStore, RefusesFilesThatAreNotStores) {
  const test::TemporaryFolder folder;
  const fs::path text = folder.path() / "text";
  std::ofstream{text} << std::string(10'000, 'x');
  EXPECT_EQ(failure_to_open(text, Access::create).kind(), ErrorKind::corrupt_data);
  const fs::path other = folder.path() / "other.sqlite";
  run_sql(other, "CREATE TABLE jobs (salary INTEGER)");
  EXPECT_EQ(failure_to_open(other, Access::create).kind(), ErrorKind::corrupt_data);
  EXPECT_EQ(failure_to_open(folder.path(), Access::create).kind(), ErrorKind::invalid_argument);
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const Access access : {Access::create, Access::existing, Access::read_only}) {
    EXPECT_EQ(failure_to_open(pipe, access).kind(), ErrorKind::invalid_argument) << "it does not wait for a writer";
  }
  EXPECT_EQ(failure_to_open("", Access::create).kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(failure_to_open(folder.path() / "a\"b", Access::create).kind(), ErrorKind::invalid_argument);
}

TEST(OpenStore, ReportsADamagedStore) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "jobs.sqlite";
  {
    const auto store = open(file.string(), Access::create);
    const JobId job = store->find_or_create("job", test::one_limit_job(), {}).id;
    const std::vector<records::JobEntryBody> many(
        500, records::RecurrenceGivenUp{.recurrence = 0, .reason = std::string(100, 'r')});
    ASSERT_TRUE(store->append(job, 0, many, {}));
  }
  {
    std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
    constexpr std::streamoff page = 4096;
    bytes.seekp(3 * page);
    for (int number = 3; number < 12; ++number) {
      bytes << std::string(page, '\x5a');
    }
  }
  const Error error = Failures::failure_of([&] {
    const auto store = open(file.string(), Access::existing);
    for (const std::string& name : store->names()) {
      store->entries(store->find(name).value().id, 0, 1000);
    }
  });
  EXPECT_EQ(error.kind(), ErrorKind::corrupt_data) << error.what();
}

TEST(OpenStore, ReportsAStoreThatCannotBeWritten) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "the superuser may write anywhere";
  }
  const test::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(failure_to_open(folder.path() / "jobs.sqlite", Access::create).kind(), ErrorKind::permission_denied);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(OpenStore, UsesAWriteAheadLogIfOneMachineHasTheDiskToItself) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(journal_for(folder.path()), Journal::write_ahead);
  EXPECT_EQ(journal_for(folder.path() / "none"), Journal::rollback);
}

TEST(OpenStore, FlushesEveryCommitWithEitherJournal) {
  const test::TemporaryFolder folder;
  const auto pragma = [](Database& database, const std::string& name) {
    std::string value;
    database.session() << "PRAGMA " + name, soci::into(value);
    return value;
  };
  const auto log = open_sqlite(folder.path() / "a", Access::create, Journal::write_ahead);
  EXPECT_EQ(pragma(*log, "journal_mode"), "wal");
  EXPECT_EQ(pragma(*log, "synchronous"), "2");
  const auto plain = open_sqlite(folder.path() / "b", Access::create, Journal::rollback);
  EXPECT_EQ(pragma(*plain, "journal_mode"), "delete");
  EXPECT_EQ(pragma(*plain, "synchronous"), "3");
}

}  // namespace
}  // namespace zeus::store
