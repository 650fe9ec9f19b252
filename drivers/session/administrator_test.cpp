#include "drivers/session/administrator.hpp"

#include "drivers/session/forked_child.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

namespace zeus::drivers {
namespace {

class Administrator : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || !caller_may_administer(user_namespace_of_caller())) {
      GTEST_SKIP() << "only root can give up being root";
    }
  }
  const std::uint64_t here_ = user_namespace_of_caller();
};

TEST_F(Administrator, IsNotAProcessThatHasGivenUpItsRights) {
  EXPECT_TRUE(caller_may_administer(here_));
  ForkedChild child{[&] { return ::setresuid(65'534, 65'534, 65'534) == 0 && !caller_may_administer(here_); }};
  EXPECT_TRUE(child.well());
}

TEST_F(Administrator, IsCheckedAgainAtEachCall) {
  ForkedChild child{[&] {
    // Leaving the effective user root drops only the effective set of capabilities; returning to root restores it.
    return caller_may_administer(here_) && ::seteuid(65'534) == 0 && !caller_may_administer(here_) &&
           ::seteuid(0) == 0 && caller_may_administer(here_);
  }};
  EXPECT_TRUE(child.well());
}

TEST_F(Administrator, IsNotRootOfAnotherNamespaceOfUsers) {
  ForkedChild able{[] { return ::unshare(CLONE_NEWUSER) == 0; }};
  if (!able.well()) {
    GTEST_SKIP() << "no namespace of users can be made here";
  }
  ForkedChild child{[&] { return ::unshare(CLONE_NEWUSER) == 0 && !caller_may_administer(here_); }};
  EXPECT_TRUE(child.well());
}

}  // namespace
}  // namespace zeus::drivers
