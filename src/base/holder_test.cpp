#include "base/holder.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace zeus {
namespace {

TEST(Holder, IsReadFromTheKernelWhateverTheProgramIsCalled) {
  const test::TemporaryFolder folder;
  const FileTree machine{folder.path()};
  machine.write_durably("proc/42/stat", "42 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20\n");
  EXPECT_EQ(find_holder(machine, 42), (Holder{42, 987654, "a) b (c)"}));
  EXPECT_EQ(to_text(*find_holder(machine, 42)), "process 42 (a) b (c))");
  EXPECT_EQ(parent_of(machine, 42), 1);
}

TEST(Holder, IsGoneWhenItsProcessIsOrOnlyWaitsToBeCollected) {
  const test::TemporaryFolder folder;
  const FileTree machine{folder.path()};
  machine.write_durably("proc/42/stat", "42 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20\n");
  machine.write_durably("proc/43/stat", "43");
  EXPECT_FALSE(find_holder(machine, 41));
  EXPECT_FALSE(find_holder(machine, 42));
  EXPECT_FALSE(find_holder(machine, 43));
  EXPECT_FALSE(parent_of(machine, 42));
}

TEST(Holder, ThisProcessKnowsItselfEvenWithoutTheKernelsFiles) {
  const Holder known = this_holder(FileTree{});
  EXPECT_EQ(known.pid, ::getpid());
  EXPECT_GT(known.started, 0U);
  const test::TemporaryFolder empty;
  EXPECT_EQ(this_holder(FileTree{empty.path()}), (Holder{::getpid(), 0, ""}));
  EXPECT_EQ(boot_of(FileTree{empty.path()}), "");
  EXPECT_EQ(place_of(FileTree{empty.path()}), "");
  EXPECT_EQ(place_of(FileTree{}), place_of(FileTree{}));
}

}  // namespace
}  // namespace zeus
