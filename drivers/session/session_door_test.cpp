#include "drivers/session/session_door.hpp"

#include "drivers/session/forked_child.hpp"
#include "drivers/session/session.hpp"

#include <gtest/gtest.h>

#include <grp.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace zeus::drivers {
namespace {

// Attaches as another user without its parent's descriptors, like a child that Python starts.
bool another_user_attaches(const std::string& reference, const Clock& clock) {
  ForkedChild child{[&] {
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
      ::close(descriptor);
    }
    if (::setgroups(0, nullptr) != 0 || ::setresgid(65'534, 65'534, 65'534) != 0 ||
        ::setresuid(65'534, 65'534, 65'534) != 0) {
      return false;
    }
    const std::optional<Session> session = Session::attach(reference, clock);
    return session && session->gpu_count() == 1;
  }};
  return child.well();
}

class OpenSession : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can become another user";
    }
  }
  Session make(bool shared) {
    return Session::create(
        {.gpus = parse_gpus("1xA100"), .spec = "1xA100", .name = {}, .table = {}, .faults = {}, .shared = shared},
        clock_);
  }
  VirtualClock clock_{Instant{1'000'000'000}};
};

TEST_F(OpenSession, IsFoundByAnotherUserWithoutAnythingFromItsCreator) {
  const Session session = make(true);
  EXPECT_TRUE(another_user_attaches(session.reference(), clock_));
  EXPECT_TRUE(another_user_attaches(session.reference(), clock_)) << "each who comes";
}

TEST_F(OpenSession, EndsWithItsMaker) {
  std::optional<Session> session = make(true);
  const std::string reference = session->reference();
  session.reset();
  EXPECT_FALSE(another_user_attaches(reference, clock_));
}

TEST_F(OpenSession, IsOptionalAndOtherUsersAreKeptOutByDefault) {
  const Session session = make(false);
  EXPECT_FALSE(another_user_attaches(session.reference(), clock_));
}

}  // namespace
}  // namespace zeus::drivers
