#include "setter/work/audit_log.hpp"

#include "base/file_tree.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace zeus::setter {
namespace {

using ::testing::HasSubstr;

class AuditLogTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string text(const char* name = "audit.log") const {
    return FileTree{folder_.path()}.read(name).value_or("");
  }
  void expect_refused(const std::filesystem::path& file) { EXPECT_THROW((AuditLog{file, clock_}), Error) << file; }

  test::TemporaryFolder folder_;
  VirtualClock clock_;
  std::filesystem::path file_ = folder_.path() / "audit.log";
};

TEST_F(AuditLogTest, EachChangeIsALineWhateverStandsInIt) {
  AuditLog log{file_, clock_};
  EXPECT_FALSE(log.set_aside());
  EXPECT_EQ(text(), "") << "reserved space is not part of the text";
  log.write({.gpu = "GPU-0",
             .why = "set",
             .who = "the token of a\nb\"c",
             .lease = 7,
             .what = "power_limit",
             .before = "250 W",
             .asked = "200 W",
             .enforced = "200 W",
             .outcome = "done"});
  log.write({.gpu = "GPU-0", .why = "put back", .who = "", .what = "power_limit", .outcome = "done"});
  const std::string written = text();
  EXPECT_EQ(std::ranges::count(written, '\n'), 2);
  EXPECT_THAT(written, HasSubstr(R"("who":"the token of a\nb\"c","lease":7,"what":"power_limit")"));
  EXPECT_THAT(written.substr(written.find('\n')), ::testing::Not(HasSubstr("lease"))) << "of none";
}

TEST_F(AuditLogTest, OfManyRefusalsInASecondOnlyTheNumberIsWritten) {
  AuditLog log{file_, clock_};
  for (int call = 0; call < 250; ++call) {
    log.write_refusal({.gpu = {}, .why = "refused", .outcome = "403"});
  }
  EXPECT_EQ(std::ranges::count(text(), '\n'), 100);
  clock_.advance(Seconds{1.5});
  log.write_refusal({.gpu = {}, .why = "refused", .outcome = "403"});
  EXPECT_EQ(std::ranges::count(text(), '\n'), 101);
  EXPECT_THAT(text(), HasSubstr("403 (after 150 that are not written)"));
}

TEST_F(AuditLogTest, OnceItIsMovedAwayReopeningGoesOnInANewOne) {
  AuditLog log{file_, clock_};
  log.write({.gpu = "GPU-0"});
  std::filesystem::rename(file_, folder_.path() / "audit.log.1");
  log.write({.gpu = "GPU-1"});
  log.reopen();
  log.write({.gpu = "GPU-2"});
  EXPECT_THAT(text("audit.log.1"), ::testing::AllOf(HasSubstr("GPU-0"), HasSubstr("GPU-1")));
  EXPECT_THAT(text(), ::testing::AllOf(HasSubstr("GPU-2"), ::testing::Not(HasSubstr("GPU-1"))));
}

TEST_F(AuditLogTest, WhatOthersMayWriteIsNone) {
  { const AuditLog made{file_, clock_}; }
  std::filesystem::permissions(file_, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  expect_refused(file_);
  std::filesystem::permissions(file_, std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(file_, folder_.path() / "link");
  expect_refused(folder_.path() / "link");
  std::filesystem::create_directory(folder_.path() / "folder");
  expect_refused(folder_.path() / "folder");
  expect_refused(folder_.path() / "nowhere" / "audit.log");
}

TEST_F(AuditLogTest, IfReopeningFailsItContinuesInTheOldFile) {
  AuditLog log{file_, clock_};
  std::filesystem::rename(file_, folder_.path() / "audit.log.1");
  std::filesystem::create_directory(file_);
  EXPECT_THROW(log.reopen(), Error);
  log.write({.gpu = "GPU-1"});
  EXPECT_THAT(text("audit.log.1"), HasSubstr("GPU-1"));
}

}  // namespace
}  // namespace zeus::setter
