#include "drivers/session/session_door.hpp"

#include "drivers/session/forked_child.hpp"
#include "drivers/session/session.hpp"

#include <gtest/gtest.h>

#include <grp.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace zeus::drivers {
namespace {

// Attaches without its parent's descriptors, like a child that Python starts, once it has become less than its parent.
bool child_attaches(const std::string& reference, const Clock& clock, bool (*lose_rights)()) {
  ForkedChild child{[&] {
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
      ::close(descriptor);
    }
    if (!lose_rights()) {
      return false;
    }
    const std::optional<Session> session = Session::attach(reference, clock);
    return session && session->gpu_count() == 1;
  }};
  return child.well();
}

bool become_another_user() {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(65'534, 65'534, 65'534) == 0 &&
         ::setresuid(65'534, 65'534, 65'534) == 0;
}

bool another_user_attaches(const std::string& reference, const Clock& clock) {
  return child_attaches(reference, clock, &become_another_user);
}

// As zeusd does before it loads a driver's library.
bool give_up_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &head, none.data()) == 0;
}

class OpenSession : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can become another user";
    }
  }
  Session make(std::optional<Admission> door) {
    return Session::create(
        {.gpus = parse_gpus("1xA100"), .spec = "1xA100", .name = {}, .table = {}, .faults = {}, .door = door}, clock_);
  }
  VirtualClock clock_{Instant{1'000'000'000}};
};

TEST_F(OpenSession, IsFoundByAnotherUserWithoutAnythingFromItsCreator) {
  const Session session = make(Admission::all_users);
  EXPECT_TRUE(another_user_attaches(session.reference(), clock_));
  EXPECT_TRUE(another_user_attaches(session.reference(), clock_)) << "each who comes";
}

TEST_F(OpenSession, EndsWithItsMaker) {
  std::optional<Session> session = make(Admission::all_users);
  const std::string reference = session->reference();
  session.reset();
  EXPECT_FALSE(another_user_attaches(reference, clock_));
}

TEST_F(OpenSession, KeepsOtherUsersOutIfItIsForItsOwn) {
  const Session session = make(Admission::own_user);
  EXPECT_FALSE(another_user_attaches(session.reference(), clock_));
  EXPECT_FALSE(another_user_attaches(make(std::nullopt).reference(), clock_));
}

TEST_F(OpenSession, IsFoundByAChildThatHasGivenUpItsCapabilities) {
  const Session session = make(Admission::own_user);
  EXPECT_TRUE(child_attaches(session.reference(), clock_, &give_up_capabilities));
  EXPECT_FALSE(child_attaches(make(std::nullopt).reference(), clock_, &give_up_capabilities))
      << "only its door is open";
}

}  // namespace
}  // namespace zeus::drivers
