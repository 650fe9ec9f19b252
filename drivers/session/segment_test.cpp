#include "drivers/session/segment.hpp"

#include "drivers/session/forked_child.hpp"

#include <zeus/error.hpp>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

namespace zeus::drivers {
namespace {

constexpr std::size_t size = 8192;

std::string path_of(const std::string& reference) {
  const std::size_t first = reference.find(':');
  return "/proc/" + reference.substr(0, first) + "/fd/" + reference.substr(first + 1, reference.rfind(':') - first - 1);
}

bool sees(const std::string& reference, char value) {
  const auto other = Segment::attach(reference, 1);
  return other && other->bytes()[size - 1] == std::byte{static_cast<unsigned char>(value)};
}

TEST(Segment, IsSharedWithProcessesThatHaveItsReference) {
  const Segment segment = Segment::create(size, 1);
  segment.bytes()[size - 1] = std::byte{'x'};
  EXPECT_TRUE(sees(segment.reference(), 'x'));
}

TEST(Segment, IsItsOwnersOnly) {
  const Segment segment = Segment::create(size, 1);
  struct stat status {};
  ASSERT_EQ(::stat(path_of(segment.reference()).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(Segment, IsFoundByAChildThatClosedEveryFile) {
  const Segment segment = Segment::create(size, 1);
  segment.bytes()[size - 1] = std::byte{'y'};
  ForkedChild child{[&] {
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
      ::close(descriptor);
    }
    return sees(segment.reference(), 'y');
  }};
  EXPECT_TRUE(child.well());
}

// The maker dies; its child has the file, and the grandchild has closed it.
TEST(Segment, IsFoundThroughAnAncestorWhenTheMakerIsGone) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ForkedChild maker{[&] {
    const Segment segment = Segment::create(size, 1);
    segment.bytes()[size - 1] = std::byte{'z'};
    const std::string reference = segment.reference();
    const pid_t maker_process = ::getpid();
    if (::fork() == 0) {
      while (::kill(maker_process, 0) == 0 && ::getppid() == maker_process) {
        ::usleep(1000);
      }
      ForkedChild grandchild{[&] {
        for (int descriptor = ends[1] + 1; descriptor < 256; ++descriptor) {
          ::close(descriptor);
        }
        return sees(reference, 'z');
      }};
      const char answer = grandchild.well() ? 'y' : 'n';
      ::_exit(::write(ends[1], &answer, 1) == 1 ? 0 : 1);
    }
    return true;
  }};
  EXPECT_TRUE(maker.well());
  char answer = 0;
  EXPECT_EQ(::read(ends[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Segment, AnAdopterPassesItOnEvenAfterItsCreatorIsGone) {
  std::optional<Segment> maker = Segment::create(size, 1);
  maker->bytes()[size - 1] = std::byte{'a'};
  const std::optional<Segment> heir = Segment::adopt(maker->reference(), 1);
  const std::string former = maker->reference();
  maker.reset();
  EXPECT_NE(heir->reference(), former);
  EXPECT_TRUE(sees(heir->reference(), 'a'));
}

TEST(Segment, IsGoneWithItsLastProcess) {
  std::string reference;
  {
    const Segment segment = Segment::create(size, 1);
    reference = segment.reference();
  }
  EXPECT_FALSE(Segment::attach(reference, 1));
}

TEST(Segment, AnotherFileUnderTheSameNumberIsNotTakenForIt) {
  std::string reference;
  {
    const Segment segment = Segment::create(size, 1);
    reference = segment.reference();
  }
  const Segment other = Segment::create(size, 1);
  ASSERT_EQ(path_of(other.reference()), path_of(reference));
  EXPECT_FALSE(Segment::attach(reference, 1));
}

TEST(Segment, AnotherLayoutIsRefused) {
  const Segment segment = Segment::create(size, 1);
  try {
    (void)Segment::attach(segment.reference(), 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
  }
}

TEST(Segment, RefusesAStringThatIsNotAReference) {
  for (const char* const text : {"", "1", "1:2", "1:2:", "a:b:c", "-1:3:12", "1:-3:12", "1:3:12 ", "1:3:xyz"}) {
    EXPECT_THROW((void)Segment::attach(text, 1), Error) << text;
  }
  EXPECT_FALSE(Segment::attach("999999999:3:12", 1));
}

TEST(Segment, CannotBeCutShortUnderItsReaders) {
  const Segment segment = Segment::create(size, 1);
  EXPECT_NE(::truncate(path_of(segment.reference()).c_str(), 10), 0);
}

TEST(Segment, IsFoundByTheProcessThatMadeIt) {
  EXPECT_FALSE(Segment::find(::getpid()));
  const Segment segment = Segment::create(size, 1);
  EXPECT_EQ(Segment::find(::getpid()), segment.reference());
}

}  // namespace
}  // namespace zeus::drivers
