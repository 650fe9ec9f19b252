#include "tests/support/lease_desk_stand.hpp"

#include <gmock/gmock.h>

namespace zeus::daemon {
namespace {

using protocol::Status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Process 71 descends from 7, and 711 from 71.
class BorrowingTest : public LeaseDeskTest {
 protected:
  std::string lend(const Client& client, const std::set<int>& gpus, Seconds term = Seconds{60}) {
    std::optional<LeaseDesk::Taken> taken;
    desk_->take({.client = client, .gpus = gpus, .term = term, .wanted = {}, .lends = true},
                [&](LeaseDesk::Taken one) { taken = std::move(one); });
    loop_.run_until([&] { return taken.has_value(); });
    return taken->lease.value().id;
  }
  [[nodiscard]] std::string overruled(const Client& client, const std::string& lease) {
    std::optional<std::string> why;
    desk_->ask_whether_overruled(client, lease, {},
                                 [&](const std::optional<Refused>&, std::string said) { why = std::move(said); });
    loop_.run_until([&] { return why.has_value(); });
    return *why;
  }

  Client parent_ = process(7);
  Client child_ = process(71);
};

TEST_F(BorrowingTest, ADescendantBorrowsAndItsEndRestoresItsParentsSettings) {
  const std::string of_parent = lend(parent_, {0});
  static_cast<void>(set(parent_, of_parent, 0, SetPowerLimit{200_W}));
  const std::string of_child = take(child_, {0, 1}).lease.value().id;
  EXPECT_THAT(set(child_, of_child, 0, SetPowerLimit{150_W}), IsEmpty());
  EXPECT_EQ(limit(0), 150_W);
  EXPECT_THAT(overruled(parent_, of_parent), HasSubstr("a process that this one has started"));
  die(child_);
  EXPECT_EQ(limit(0), 200_W);
  EXPECT_THAT(overruled(parent_, of_parent), HasSubstr("a process that this one has started"))
      << "what was measured meanwhile was not measured under its own setting";
  EXPECT_THAT(set(parent_, of_parent, 0, SetPowerLimit{190_W}), IsEmpty());
  EXPECT_EQ(overruled(parent_, of_parent), "");
}

TEST_F(BorrowingTest, WhileItBorrowsItsParentsSettersAreConflictsThatNameIt) {
  const std::string of_parent = lend(parent_, {0, 1});
  const std::string of_child = take(child_, {0}).lease.value().id;
  const Refusals refused = set(parent_, of_parent, 0, SetPowerLimit{200_W});
  ASSERT_TRUE(refused.contains(0));
  EXPECT_EQ(refused.at(0).status, Status::conflict);
  EXPECT_THAT(refused.at(0).text, HasSubstr("process 71"));
  EXPECT_EQ(set_without_lease(parent_, {0}, SetPowerLimit{200_W}).at(0).status, Status::conflict);
  EXPECT_THAT(set(parent_, of_parent, 1, SetPowerLimit{200_W}), IsEmpty()) << "no process has borrowed it";
  EXPECT_TRUE(take(parent_, {0}).lease) << "it may take a share, but set nothing through it";
  static_cast<void>(release(child_, of_child));
  EXPECT_THAT(set(parent_, of_parent, 0, SetPowerLimit{200_W}), IsEmpty());
}

TEST_F(BorrowingTest, OnlyDescendantsBorrowOneAtATime) {
  static_cast<void>(lend(parent_, {0}));
  EXPECT_EQ(take(process(8), {0}).refused.value().status, Status::conflict);
  ASSERT_TRUE(take(child_, {0}).lease);
  const LeaseDesk::Taken second = take(process(72), {0});
  EXPECT_EQ(second.refused.value().status, Status::conflict);
  EXPECT_THAT(second.refused->text, HasSubstr("process 71"));
  EXPECT_EQ(take(process(711), {0}).refused.value().status, Status::conflict) << "what is borrowed is not lent on";
}

TEST_F(BorrowingTest, FromOneLenderAtATime) {
  static_cast<void>(lend(parent_, {0}));
  static_cast<void>(lend(child_, {1}));
  EXPECT_EQ(take(process(711), {0, 1}).refused.value().status, Status::conflict);
  EXPECT_TRUE(take(process(711), {1}).lease);
  EXPECT_TRUE(take(process(711), {0}).lease) << "each with a lease of its own";
}

TEST_F(BorrowingTest, AnUnlentGpuIsAConflictForADescendantToo) {
  ASSERT_TRUE(take(parent_, {0}).lease);
  EXPECT_EQ(take(child_, {0}).refused.value().status, Status::conflict);
}

TEST_F(BorrowingTest, TheParentsDeathEndsBoth) {
  static_cast<void>(set(parent_, lend(parent_, {0}), 0, SetPowerLimit{200_W}));
  const std::string of_child = take(child_, {0}).lease.value().id;
  static_cast<void>(set(child_, of_child, 0, SetPowerLimit{150_W}));
  die(parent_);
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_THAT(desk_->leases(), IsEmpty());
  EXPECT_EQ(set(child_, of_child, 0, SetPowerLimit{150_W}).at(0).status, Status::not_found);
}

TEST_F(BorrowingTest, SoDoesTheEndOfItsTerm) {
  static_cast<void>(lend(parent_, {0}, Seconds{10}));
  static_cast<void>(set(child_, take(child_, {0}).lease.value().id, 0, SetPowerLimit{150_W}));
  loop_.advance(Seconds{11});
  settle();
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(BorrowingTest, AParentThatReleasesLeavesItTheLease) {
  const std::string of_parent = lend(parent_, {0});
  static_cast<void>(set(parent_, of_parent, 0, SetPowerLimit{200_W}));
  const std::string of_child = take(child_, {0}).lease.value().id;
  static_cast<void>(set(child_, of_child, 0, SetPowerLimit{150_W}));
  static_cast<void>(release(parent_, of_parent));
  EXPECT_EQ(limit(0), 150_W);
  die(parent_);
  EXPECT_EQ(limit(0), 150_W);
  EXPECT_EQ(take(parent_, {0}).refused.value().status, Status::conflict);
  static_cast<void>(release(child_, of_child));
  EXPECT_EQ(limit(0), 250_W) << "the limit that its parent had found";
}

TEST_F(BorrowingTest, ItIsItsParentsForAsLongAsThatHasAnotherShare) {
  const std::string one = lend(parent_, {0});
  static_cast<void>(lend(parent_, {0}));
  static_cast<void>(set(child_, take(child_, {0}).lease.value().id, 0, SetPowerLimit{150_W}));
  static_cast<void>(release(parent_, one));
  EXPECT_EQ(limit(0), 150_W);
  die(parent_);
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(BorrowingTest, ASetterWithoutALeaseLendsAndBorrows) {
  EXPECT_THAT(set_without_lease(parent_, {0}, SetPowerLimit{200_W}), IsEmpty());
  EXPECT_THAT(set_without_lease(child_, {0}, SetPowerLimit{150_W}), IsEmpty());
  EXPECT_EQ(limit(0), 150_W);
  die(child_);
  EXPECT_EQ(limit(0), 200_W);
}

}  // namespace
}  // namespace zeus::daemon
