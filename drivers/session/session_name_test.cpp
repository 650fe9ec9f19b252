#include "drivers/session/session_name.hpp"

#include "drivers/session/forked_child.hpp"
#include "drivers/session/segment.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::drivers {
namespace {

std::string unique_name() {
  return "test-" + std::to_string(::getpid());
}

TEST(SessionName, IsHeldByOneAndLeadsToItsSession) {
  EXPECT_FALSE(SessionName::reference(unique_name()));
  const Segment segment = Segment::create(4096, 1);
  const auto name = SessionName::claim(unique_name());
  ASSERT_TRUE(name);
  EXPECT_FALSE(SessionName::claim(unique_name()));
  EXPECT_EQ(SessionName::reference(unique_name()), segment.reference());
}

TEST(SessionName, IsFreeWhenItsHolderIsKilled) {
  const std::string name = unique_name();
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ForkedChild holder{[&] {
    const auto held = SessionName::claim(name);
    char byte = 'x';
    (void)!::write(ends[1], &byte, 1);
    ::pause();
    return true;
  }};
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_FALSE(SessionName::claim(name));
  holder.kill();
  EXPECT_TRUE(SessionName::claim(name));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(SessionName, RefusesWhatIsNoName) {
  for (const std::string& name : {std::string{}, std::string{"a b"}, std::string{"a/b"}, std::string(49, 'a')}) {
    EXPECT_THROW((void)SessionName::claim(name), Error) << name;
  }
}

}  // namespace
}  // namespace zeus::drivers
