#include "tests/support/lease_desk_stand.hpp"

#include "base/log.hpp"

#include <gmock/gmock.h>

#include <future>

namespace zeus::daemon {
namespace {

using protocol::Status;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(LeaseDeskTest, ASecondClientIsRefusedWithTheHoldersName) {
  ASSERT_TRUE(take(process(7), {0}).lease);
  const LeaseDesk::Taken second = take(process(8, 1001), {0});
  EXPECT_EQ(second.refused.value().status, Status::conflict);
  EXPECT_THAT(second.refused->text, HasSubstr("user 1000's process 7"));
  EXPECT_TRUE(take(process(8, 1001), {1}).lease) << "the other GPU is free";
}

TEST_F(LeaseDeskTest, SeveralGpusAreTakenTogetherOrNoneIs) {
  ASSERT_TRUE(take(process(7), {1}).lease);
  EXPECT_EQ(take(process(8), {0, 1}).refused.value().status, Status::conflict);
  EXPECT_TRUE(take(process(9), {0}).lease) << "what could not be taken whole holds nothing";
}

TEST_F(LeaseDeskTest, IfTheSecondGpuCannotBeTakenTheFirstIsGivenBack) {
  gpus_[1].control = nullptr;
  control::LeaseBook book{ledger(), gpus_, guardian_, clock_};
  seats_[1] = make_seat(1, book);
  make_desk(built_in_policy());
  EXPECT_FALSE(take(process(7), {0, 1}).lease);
  EXPECT_THAT(desk_->leases(), IsEmpty());
  EXPECT_FALSE(record("GPU-0"));
}

TEST_F(LeaseDeskTest, SettingsApplyUntilTheRelease) {
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  EXPECT_THAT(set(client, lease, 0, SetPowerLimit{200_W}), IsEmpty());
  EXPECT_EQ(limit(0), 200_W);
  EXPECT_EQ(desk_->outcomes(0).back().result.enforced.value_or(0_W), 200_W);
  EXPECT_THAT(release(client, lease), IsEmpty());
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_THAT(desk_->leases(), IsEmpty());
}

TEST_F(LeaseDeskTest, ALeaseIsItsClientsAlone) {
  const std::string lease = take(process(7), {0}).lease->id;
  EXPECT_EQ(set(process(8), lease, 0, SetPowerLimit{200_W}).at(0).status, Status::not_found);
  EXPECT_EQ(release(process(8), lease).at(0).status, Status::not_found);
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, TheEndOfItsProcessPutsBack) {
  const Client client = process(7);
  const std::string lease = take(client, {0, 1}).lease->id;
  ASSERT_THAT(set(client, lease, 1, SetPowerLimit{200_W}), IsEmpty());
  die(client);
  EXPECT_EQ(limit(1), 250_W);
  EXPECT_THAT(desk_->leases(), IsEmpty());
  EXPECT_EQ(loop_.watches(), 0U);
}

TEST_F(LeaseDeskTest, AnUnrenewedLeaseEndsWithItsTerm) {
  const Client client = process(7);
  const std::string lease = take(client, {0}, Seconds{10}).lease->id;
  ASSERT_THAT(set(client, lease, 0, SetPowerLimit{200_W}), IsEmpty());
  loop_.advance(Seconds{9});
  EXPECT_EQ(limit(0), 200_W);
  std::optional<LeaseDesk::Taken> renewed;
  desk_->renew(client, lease, [&](LeaseDesk::Taken one) { renewed = std::move(one); });
  loop_.run_until([&] { return renewed.has_value(); });
  ASSERT_TRUE(renewed->lease);
  loop_.advance(Seconds{9});
  EXPECT_EQ(limit(0), 200_W);
  loop_.advance(Seconds{2});
  settle();
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_EQ(set(client, lease, 0, SetPowerLimit{200_W}).at(0).status, Status::not_found);
}

TEST_F(LeaseDeskTest, ALeaseLastsForTheLongestTermOfItsClientAndEachRenewsIt) {
  const Client client = process(7);
  const std::string long_one = take(client, {0, 1}, Seconds{600}).lease->id;
  const std::string short_one = take(client, {0}, Seconds{60}).lease->id;
  ASSERT_THAT(set(client, short_one, 0, SetPowerLimit{200_W}), IsEmpty());
  loop_.advance(Seconds{500});
  settle();
  EXPECT_EQ(limit(0), 200_W);
  for (const LeaseView& lease : desk_->leases()) {
    EXPECT_NEAR((lease.ends - clock_.now()).value(), 100, 1) << lease.id;
  }
  EXPECT_THAT(set(client, short_one, 0, SetPowerLimit{190_W}), IsEmpty());
  loop_.advance(Seconds{90});
  settle();
  EXPECT_EQ(limit(0), 190_W);
  EXPECT_THAT(release(client, long_one), IsEmpty());
  loop_.advance(Seconds{1});
  settle();
  EXPECT_EQ(limit(0), 250_W) << "the other was not renewed within its own term";
  EXPECT_THAT(desk_->leases(), IsEmpty());
}

TEST_F(LeaseDeskTest, ThePolicysLongestTimeEndsARenewedLease) {
  Policy policy = built_in_policy();
  policy.rules[0].longest_lease = Seconds{15};
  make_desk(std::move(policy));
  const Client client = process(7);
  const std::string lease = take(client, {0}, Seconds{10}).lease->id;
  for (int i = 0; i < 2; ++i) {
    loop_.advance(Seconds{7});
    bool renewed = false;
    desk_->renew(client, lease, [&](const LeaseDesk::Taken& one) { renewed = one.lease.has_value(); });
    loop_.run_until([&] { return renewed; });
  }
  loop_.advance(Seconds{2});
  settle();
  EXPECT_THAT(desk_->leases(), IsEmpty());
}

TEST_F(LeaseDeskTest, TakingAGpuAgainBeforeItsLeaseEndsGivesNoMoreTime) {
  Policy policy = built_in_policy();
  policy.rules[0].longest_lease = Seconds{15};
  make_desk(std::move(policy));
  const Client client = process(7);
  ASSERT_TRUE(take(client, {0}, Seconds{60}).lease);
  loop_.advance(Seconds{10});
  ASSERT_TRUE(take(client, {0}, Seconds{60}).lease);
  loop_.advance(Seconds{6});
  settle();
  EXPECT_THAT(desk_->leases(), IsEmpty());
  EXPECT_TRUE(take(client, {0}).lease) << "it was free meanwhile";
}

TEST_F(LeaseDeskTest, AClientThatWaitsForSeveralGpusIsNotOvertaken) {
  const Client holder = process(7);
  const std::string lease = take(holder, {1}).lease->id;
  std::optional<LeaseDesk::Taken> both;
  desk_->take({process(8), {0, 1}, Seconds{60}, Seconds{100}, {}},
              [&](LeaseDesk::Taken one) { both = std::move(one); });
  EXPECT_EQ(take(process(9), {0}).refused.value().status, Status::conflict) << "though GPU 0 is free";
  static_cast<void>(release(holder, lease));
  loop_.run_until([&] { return both.has_value(); });
  EXPECT_TRUE(both->lease);
}

TEST_F(LeaseDeskTest, OneUserLeavesLeasesAndPlacesInTheQueueToOthers) {
  const Client greedy = process(7, 1000);
  int taken = 0;
  while (taken < 2000 && take(greedy, {0}).lease) {
    ++taken;
  }
  EXPECT_EQ(taken, 1024);
  EXPECT_TRUE(take(process(8, 1001), {1}).lease);
  int waiting = 0;
  for (int pid = 100; pid < 100 + static_cast<int>(built_in_policy().most_waiting); ++pid) {
    desk_->take({process(pid, 1002), {0}, Seconds{60}, Seconds{100}, {}}, [](const LeaseDesk::Taken&) {});
    waiting = static_cast<int>(desk_->waiting());
  }
  EXPECT_EQ(waiting, static_cast<int>(built_in_policy().most_waiting) / 2);
  desk_->take({process(9, 1003), {0}, Seconds{60}, Seconds{100}, {}}, [](const LeaseDesk::Taken&) {});
  EXPECT_EQ(static_cast<int>(desk_->waiting()), waiting + 1);
}

TEST_F(LeaseDeskTest, WaitingClientsGetAFreeGpuInTurn) {
  const Client first = process(7);
  const std::string lease = take(first, {0}).lease->id;
  std::vector<int> order;
  std::map<int, std::string> ids;
  for (const int pid : {8, 9}) {
    desk_->take({process(pid), {0}, Seconds{60}, Seconds{100}, {}}, [&, pid](const LeaseDesk::Taken& taken) {
      order.push_back(pid);
      ids[pid] = taken.lease ? taken.lease->id : "none";
    });
  }
  EXPECT_EQ(desk_->waiting(), 2U);
  static_cast<void>(release(first, lease));
  loop_.run_until([&] { return !order.empty(); });
  EXPECT_EQ(order, std::vector{8});
  static_cast<void>(release(process(8), ids[8]));
  loop_.run_until([&] { return order.size() == 2; });
  EXPECT_EQ(order, (std::vector{8, 9}));
  EXPECT_NE(ids[9], "none");
}

TEST_F(LeaseDeskTest, AClientWhosePatienceEndsLearnsTheHolder) {
  const std::string lease = take(process(7), {0}, Seconds{60}).lease->id;
  std::optional<LeaseDesk::Taken> taken;
  desk_->take({process(8), {0}, Seconds{60}, Seconds{5}, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
  loop_.advance(Seconds{6});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->refused.value().status, Status::conflict);
  EXPECT_TRUE(taken->holder);
  EXPECT_EQ(desk_->waiting(), 0U);
}

TEST_F(LeaseDeskTest, TheQueueHasTheLengthInThePolicy) {
  Policy policy = built_in_policy();
  policy.most_waiting = 1;
  make_desk(std::move(policy));
  ASSERT_TRUE(take(process(7), {0}).lease);
  desk_->take({process(8), {0}, Seconds{60}, Seconds{5}, {}}, [](const LeaseDesk::Taken&) {});
  EXPECT_EQ(take(process(9), {0}, Seconds{60}, Seconds{5}).refused.value().status, Status::too_many);
}

TEST_F(LeaseDeskTest, ASetterWithoutALeaseHoldsUntilItsProcessEnds) {
  const Client client = process(7);
  EXPECT_THAT(set_without_lease(client, {0, 1}, SetPowerLimit{200_W}), IsEmpty());
  EXPECT_THAT(set_without_lease(client, {0}, SetPowerLimit{180_W}), IsEmpty());
  EXPECT_EQ(desk_->leases().size(), 2U) << "one of each GPU, however often it is set";
  EXPECT_EQ(set_without_lease(process(8), {0}, SetPowerLimit{150_W}).at(0).status, Status::conflict);
  for (int i = 0; i < 30; ++i) {
    loop_.advance(Seconds{20});
    settle();
  }
  EXPECT_EQ(limit(0), 180_W) << "the desk renews it while the process lives";
  die(client);
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_EQ(limit(1), 250_W);
}

TEST_F(LeaseDeskTest, ARequestDuringARestorationWaitsForIt) {
  const Client client = process(7);
  ASSERT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  loop_.make_readable(client.process->end->get());
  EXPECT_THAT(set_without_lease(process(8), {0}, SetPowerLimit{180_W}), IsEmpty());
  EXPECT_EQ(limit(0), 180_W);
  EXPECT_THAT(gpu_->log, Contains("power 250"));
}

TEST_F(LeaseDeskTest, ARequestWhileRestoringHangsIsAnsweredInTime) {
  const Client client = process(7);
  ASSERT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  std::promise<void> goes_on;
  gpu_->it_hangs = [&goes_on] { goes_on.get_future().wait(); };
  loop_.make_readable(client.process->end->get());
  std::optional<Refusals> refusals;
  desk_->set_without_lease(process(8), {0}, SetPowerLimit{180_W}, {}, [&](Refusals all) { refusals = std::move(all); });
  loop_.advance(Seconds{3});
  EXPECT_EQ(refusals.value().at(0).status, Status::conflict);
  goes_on.set_value();
  settle();
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, ARefusedSettingIsAmongTheOutcomesEvenIfNoClientWaits) {
  ASSERT_TRUE(take(process(7), {0}).lease);
  EXPECT_EQ(set_without_lease(process(8), {0}, SetPowerLimit{150_W}).at(0).status, Status::conflict);
  ASSERT_FALSE(desk_->outcomes(0).empty());
  EXPECT_TRUE(desk_->outcomes(0).back().is_known);
  EXPECT_THAT(desk_->outcomes(0).back().result.error->message(), HasSubstr("leased by"));
}

TEST_F(LeaseDeskTest, AKeptSettingStaysUntilAnotherClientSetsTheGpu) {
  Policy policy = built_in_policy();
  policy.implicit = ImplicitLease::keep;
  make_desk(std::move(policy));
  const Client client = process(7);
  EXPECT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  die(client);
  EXPECT_EQ(limit(0), 200_W);
  EXPECT_THAT(set_without_lease(process(8), {0}, SetPowerLimit{150_W}), IsEmpty());
  EXPECT_EQ(limit(0), 150_W);
  EXPECT_THAT(gpu_->log, Contains("power 250")) << "what was found comes back in between";
}

TEST_F(LeaseDeskTest, IfThePolicyRequiresLeasesASetterWithoutOneIsRefused) {
  Policy policy = built_in_policy();
  policy.implicit = ImplicitLease::refuse;
  make_desk(std::move(policy));
  EXPECT_EQ(set_without_lease(process(7), {0}, SetPowerLimit{200_W}).at(0).status, Status::forbidden);
}

TEST_F(LeaseDeskTest, TheSettingsOfATokenLastAnHourAfterItsLastRequest) {
  const Client client{.user = {}, .groups = {}, .process = {}, .token = "ann"};
  EXPECT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  const auto wait = [&](Seconds time) {
    for (Seconds waited{0}; waited < time; waited = waited + Seconds{20}) {
      loop_.advance(Seconds{20});
      settle();
    }
  };
  wait(Seconds{3000});
  desk_->note_token(client);
  wait(Seconds{3000});
  EXPECT_EQ(limit(0), 200_W);
  wait(Seconds{700});
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, TheSettingOfATokensOnlyRequestLastsAnHour) {
  const Client client{.user = {}, .groups = {}, .process = {}, .token = "ann"};
  EXPECT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  for (Seconds waited{0}; waited < Seconds{3700}; waited = waited + Seconds{20}) {
    EXPECT_TRUE(limit(0) == 200_W || waited >= Seconds{3600});
    loop_.advance(Seconds{20});
    settle();
  }
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, TheLatestOfOneProcessHoldsAndItsEndBringsBackTheOther) {
  const Client client = process(7);
  const std::string outer = take(client, {0}).lease->id;
  const std::string inner = take(client, {0}).lease->id;
  static_cast<void>(set(client, outer, 0, SetPowerLimit{200_W}));
  static_cast<void>(set(client, inner, 0, SetPowerLimit{150_W}));
  EXPECT_EQ(limit(0), 150_W);
  static_cast<void>(release(client, inner));
  EXPECT_EQ(limit(0), 200_W);
  static_cast<void>(release(client, outer));
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, ANewPolicyEndsLeasesThatItDoesNotAllow) {
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  static_cast<void>(set(client, lease, 0, SetPowerLimit{200_W}));
  Policy narrower = built_in_policy();
  narrower.rules[0].power_limit = device::WattRange{220_W, 300_W};
  set_policy(narrower);
  settle();
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_EQ(set(process(8), take(process(8), {0}).lease->id, 0, SetPowerLimit{200_W}).at(0).status, Status::forbidden);
}

TEST_F(LeaseDeskTest, ANewPolicyJudgesEachKindOfSettingThatStands) {
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  static_cast<void>(set(client, lease, 0, SetPowerLimit{200_W}));
  static_cast<void>(set(client, lease, 0, SetPersistence{true}));
  Policy narrower = built_in_policy();
  narrower.rules[0].power_limit = device::WattRange{220_W, 300_W};
  set_policy(narrower);
  settle();
  EXPECT_EQ(limit(0), 250_W);
}

TEST_F(LeaseDeskTest, LeasesOfATokenThatIsNoLongerValidEnd) {
  const auto with = [](const char* token) {
    return Client{
        .user = {}, .groups = {}, .process = {}, .token = "ann", .bearer = std::make_shared<const std::string>(token)};
  };
  const std::string lease = take(with("old"), {0}).lease->id;
  static_cast<void>(set(with("old"), lease, 0, SetPowerLimit{200_W}));
  EXPECT_THAT(set_without_lease(with("old"), {1}, SetPowerLimit{200_W}), IsEmpty());
  const auto is_believed = [](const Client& client) { return *client.bearer != "old"; };
  desk_->note_token(with("new"));  // a second token of hers, which she uses from now on
  desk_->set_policy(built_in_policy(), is_believed);
  settle();
  EXPECT_EQ(limit(0), 200_W);
  desk_->note_token(with("old"));
  desk_->set_policy(built_in_policy(), is_believed);
  settle();
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_EQ(limit(1), 250_W);
}

TEST_F(LeaseDeskTest, AWaitingClientWhoseTokenIsNoLongerValidIsRefused) {
  ASSERT_TRUE(take(process(7), {0}).lease);
  const Client ann{.user = {}, .groups = {}, .process = {}, .token = "ann"};
  std::optional<LeaseDesk::Taken> taken;
  desk_->take({ann, {0}, Seconds{60}, Seconds{100}, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
  desk_->set_policy(built_in_policy(), [](const Client& client) { return !client.token; });
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->refused.value().status, Status::unauthorized);
  EXPECT_EQ(desk_->waiting(), 0U);
}

TEST_F(LeaseDeskTest, AWaitingClientIsJudgedByTheNewPolicy) {
  const Client client = process(7);
  ASSERT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  ASSERT_TRUE(take(process(9), {1}).lease);
  std::promise<void> goes_on;
  gpu_->it_hangs = [&goes_on] { goes_on.get_future().wait(); };
  loop_.make_readable(client.process->end->get());
  // It waits for the other lease's end, and this one waits for the other GPU.
  std::optional<Refusals> set;
  desk_->set_without_lease(process(8), {0}, SetPowerLimit{180_W}, {}, [&](Refusals all) { set = std::move(all); });
  std::optional<LeaseDesk::Taken> taken;
  desk_->take({process(8), {1}, Seconds{60}, Seconds{100}, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
  Policy narrower = built_in_policy();
  narrower.rules[0].may = {Action::read};
  set_policy(narrower);
  goes_on.set_value();
  loop_.run_until([&] { return set && taken; });
  settle();
  EXPECT_EQ(set->at(0).status, Status::forbidden);
  EXPECT_EQ(taken->refused.value().status, Status::forbidden);
  EXPECT_EQ(gpu_->log, (std::vector<std::string>{"power 200", "power 250"}));
  EXPECT_THAT(desk_->leases(), IsEmpty());
}

TEST_F(LeaseDeskTest, AWaitingSettingIsJudgedByTheNewPolicy) {
  const Client client = process(7);
  ASSERT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  std::promise<void> goes_on;
  gpu_->it_hangs = [&goes_on] { goes_on.get_future().wait(); };
  loop_.make_readable(client.process->end->get());
  std::optional<Refusals> set;
  desk_->set_without_lease(process(8), {0}, SetPowerLimit{180_W}, {}, [&](Refusals all) { set = std::move(all); });
  Policy narrower = built_in_policy();
  narrower.rules[0].power_limit = device::WattRange{200_W, 300_W};
  set_policy(narrower);
  goes_on.set_value();
  loop_.run_until([&] { return set.has_value(); });
  settle();
  EXPECT_EQ(set->at(0).status, Status::forbidden);
  EXPECT_EQ(gpu_->log, (std::vector<std::string>{"power 200", "power 250"}));
}

TEST_F(LeaseDeskTest, SettingsThatWaitForTheirLeaseAreMadeInTheirOrder) {
  const Client client = process(7);
  ASSERT_THAT(set_without_lease(client, {0}, SetPowerLimit{200_W}), IsEmpty());
  std::promise<void> goes_on;
  gpu_->it_hangs = [until = goes_on.get_future().share()] { until.wait(); };
  loop_.make_readable(client.process->end->get());
  const Client next = process(8);
  std::size_t set = 0;
  for (const Watts limit : {180_W, 220_W, 190_W}) {
    desk_->set_without_lease(next, {0}, SetPowerLimit{limit}, {}, [&](const Refusals& refusals) {
      EXPECT_THAT(refusals, IsEmpty());
      ++set;
    });
  }
  goes_on.set_value();
  loop_.run_until([&] { return set == 3; });
  EXPECT_EQ(gpu_->log, (std::vector<std::string>{"power 200", "power 250", "power 180", "power 220", "power 190"}));
}

TEST_F(LeaseDeskTest, MoreChangesASecondThanAllowedAreRefused) {
  Policy policy = built_in_policy();
  policy.rules[0].changes_per_second = 2;
  make_desk(std::move(policy));
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  EXPECT_THAT(set(client, lease, 0, SetPowerLimit{200_W}), IsEmpty());
  EXPECT_THAT(set(client, lease, 0, SetPowerLimit{201_W}), IsEmpty());
  EXPECT_EQ(set(client, lease, 0, SetPowerLimit{202_W}).at(0).status, Status::too_many);
  loop_.advance(Seconds{0.6});
  EXPECT_THAT(set(client, lease, 0, SetPowerLimit{203_W}), IsEmpty());
}

TEST_F(LeaseDeskTest, AHangingGpuDelaysNoOtherAndItsOutcomeIsReportedLater) {
  const Client client = process(7);
  const std::string lease = take(client, {0, 1}).lease->id;
  std::promise<void> goes_on;
  gpu_->it_hangs = [&goes_on] { goes_on.get_future().wait(); };
  std::optional<Refusals> late;
  desk_->set(client, lease, {0}, SetPowerLimit{200_W}, {},
             [&](Refusals all, const std::vector<Outcome>&) { late = std::move(all); });
  EXPECT_THAT(set(client, lease, 1, SetPowerLimit{180_W}), IsEmpty());
  loop_.advance(Seconds{3});
  EXPECT_EQ(late.value().at(0).status, Status::timeout);
  EXPECT_EQ(set(client, lease, 0, SetPowerLimit{210_W}).at(0).status, Status::stuck);
  EXPECT_FALSE(desk_->outcomes(0).front().is_known);
  EXPECT_THAT(set(client, lease, 1, SetPowerLimit{190_W}), IsEmpty());
  goes_on.set_value();
  settle();
  EXPECT_TRUE(desk_->outcomes(0).front().is_known);
  EXPECT_EQ(limit(0), 200_W);
  EXPECT_THAT(set(client, lease, 0, SetPowerLimit{210_W}), IsEmpty());
}

TEST_F(LeaseDeskTest, ALeaseTakenTooLateIsGivenBack) {
  std::promise<void> goes_on;
  const auto held = seats_[0].get();
  bool began = false;
  held->thread().ask(
      {.work = [&] { goes_on.get_future().wait(); }, .ended = [&](auto) { began = true; }, .is_wanted = {}});
  std::optional<LeaseDesk::Taken> taken;
  desk_->take({process(7), {0}, Seconds{60}, {}, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
  loop_.advance(Seconds{3});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->refused.value().status, Status::stuck);
  goes_on.set_value();
  settle();
  EXPECT_TRUE(began);
  EXPECT_THAT(desk_->leases(), IsEmpty());
  EXPECT_FALSE(record("GPU-0"));
}

// Taking and releasing also put settings back, and that hangs.
TEST_F(LeaseDeskTest, TakingOrReleasingAHangingGpuIsAnsweredInTime) {
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  static_cast<void>(set(client, lease, 0, SetPowerLimit{200_W}));
  std::promise<void> goes_on;
  gpu_->it_hangs = [&goes_on] { goes_on.get_future().wait(); };
  std::optional<Refusals> released;
  desk_->release(client, lease, [&](Refusals all) { released = std::move(all); });
  loop_.advance(Seconds{3});
  EXPECT_EQ(released.value().at(0).status, Status::timeout);
  goes_on.set_value();
  settle();
  EXPECT_EQ(limit(0), 250_W);

  control::LeaseRecord left{{77, Instant{}, {1, 5, "zeusd"}, {}}, "GPU-0", "GPU 0", ledger_.boot()};
  left.found.power_limit = 240_W;
  ledger_.write(left);
  std::promise<void> again;
  gpu_->it_hangs = [&again] { again.get_future().wait(); };
  std::optional<LeaseDesk::Taken> taken;
  desk_->take({client, {0}, Seconds{60}, {}, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
  loop_.advance(Seconds{3});
  EXPECT_EQ(taken.value().refused.value().status, Status::timeout);
  again.set_value();
  settle();
  EXPECT_EQ(limit(0), 240_W);
  EXPECT_THAT(desk_->leases(), IsEmpty());
}

TEST_F(LeaseDeskTest, ClosingPutsEverythingBackAndTakesNoMore) {
  const Client client = process(7);
  static_cast<void>(set(client, take(client, {0}).lease->id, 0, SetPowerLimit{200_W}));
  static_cast<void>(set_without_lease(process(8), {1}, SetPowerLimit{180_W}));
  bool closed = false;
  desk_->close([&] { closed = true; });
  loop_.run_until([&] { return closed; });
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_EQ(limit(1), 250_W);
  EXPECT_EQ(take(client, {0}).refused.value().status, Status::stuck);
}

TEST_F(LeaseDeskTest, AClientWithoutAnIdentityGetsNoLease) {
  EXPECT_EQ(take(Client{}, {0}).refused.value().status, Status::forbidden);
}

TEST_F(LeaseDeskTest, TheRecordSaysForWhom) {
  ASSERT_TRUE(take(process(7), {0}).lease);
  const std::optional<control::LeaseRecord> written = record("GPU-0");
  ASSERT_TRUE(written && written->client);
  EXPECT_EQ(written->client->user, 1000);
  EXPECT_EQ(written->client->process->pid, 7);
}

TEST_F(LeaseDeskTest, TheLogTellsAHolderThatHungFromOneThatHadEnded) {
  control::LeaseRecord left{{1, Instant{1}, {42, 987654, "zeusd"}, {}}, "GPU-0", "GPU 0 (Tesla V100)", "this-boot"};
  left.found.power_limit = 250_W;
  left.client = control::LeaseClient{.user = 1000};
  const auto logged = [&] {
    ledger().leave_note(left);
    std::string line;
    const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view one) { line = one; }};
    bool done = false;
    seats_[0]->put_back_what_was_left([&](const std::optional<std::string>& /*failure*/) { done = true; });
    loop_.run_until([&] { return done; });
    return line;
  };
  EXPECT_THAT(logged(), HasSubstr("process 42 (zeusd) for user 1000 had ended without doing so"));
  machine_.write_durably("proc/42/stat", "42 (zeusd) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20\n");
  EXPECT_THAT(logged(), HasSubstr("process 42 (zeusd) for user 1000 did not do so in time"));
}

TEST_F(LeaseDeskTest, WhatATakenGpuIsPutBackToIsLoggedOnce) {
  control::LeaseRecord left{{1, Instant{1}, {42, 987654, "zeusd"}, {}}, "GPU-0", "GPU 0 (Tesla V100)", "this-boot"};
  left.found.power_limit = 250_W;
  left.client = control::LeaseClient{.user = 1000};
  ledger().write(left);
  std::vector<std::string> lines;
  const log::ScopedSink sink{[&](log::Level /*level*/, std::string_view line) { lines.emplace_back(line); }};
  EXPECT_TRUE(take(process(7), {0}).lease);
  EXPECT_THAT(lines, ::testing::ElementsAre(HasSubstr("was put back to power limit 250 W because process 42")));
}

TEST_F(LeaseDeskTest, AnAdministratorTakesALeaseBack) {
  const Client client = process(7);
  const std::string lease = take(client, {0}).lease->id;
  static_cast<void>(set(client, lease, 0, SetPowerLimit{200_W}));
  bool ended = false;
  EXPECT_TRUE(desk_->end(lease, "taken back by the administrator", [&] { ended = true; }));
  loop_.run_until([&] { return ended; });
  EXPECT_EQ(limit(0), 250_W);
  EXPECT_FALSE(desk_->end("lease-99", "", {}));
}

}  // namespace
}  // namespace zeus::daemon
