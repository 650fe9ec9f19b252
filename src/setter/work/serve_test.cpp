#include "setter/work/serve.hpp"

#include "setter/link/remote_audit.hpp"
#include "setter/link/remote_seat.hpp"
#include "tests/support/leased_gpus.hpp"

#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <cstddef>
#include <string>
#include <thread>

namespace zeus::setter {
namespace {

// A setter's thread for one GPU, and zeusd's end of its channel.
class SetterServes : public ::testing::Test, protected test::LocalStand {
 protected:
  SetterServes() {
    auto audited = std::make_shared<AuditedControl>(gpu_, gpu_, nullptr);
    const device::DiscoveredGpu gpu{gpu_, audited, 0};
    book_.emplace(ledger(), std::vector{gpu}, guardian_, clock_);
    seat_.emplace(*book_, ledger_, LocalSeat::Parts{gpu, audited, std::make_shared<device::DriverGate>()}, clock_);
    std::array<Channel, 2> ends = Channel::pair();
    ours_ = std::move(ends[0]);
    thread_ = std::thread{[this, channel = std::move(ends[1])] { serve(*seat_, channel); }};
  }
  void TearDown() override { join(); }
  void join() {
    ours_.reset();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  // zeusd's side of the seat; the channel is its own from here on.
  std::unique_ptr<RemoteSeat> remote() {
    return std::make_unique<RemoteSeat>(*std::exchange(ours_, std::nullopt), 0_s);
  }
  [[nodiscard]] Watts limit() const { return *gpu_->power_limits().current; }

  control::Ledger ledger_ = ledger();
  std::optional<control::LeaseBook> book_;
  std::optional<LocalSeat> seat_;
  std::optional<Channel> ours_;
  std::thread thread_;
};

TEST_F(SetterServes, EachRequestAsTheSeatDoesInRealTime) {
  auto seat = remote();
  EXPECT_EQ(seat->put_back_what_was_left(), std::nullopt);
  const Taken taken = seat->take(1, 60_s, {.user = 1000, .process = {}, .control_group = {}, .token = "ann"});
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.found, Reading{250_W});
  EXPECT_EQ(taken.client.token, "ann");
  EXPECT_EQ(seat->set(1, SetPowerLimit{200_W}).enforced, Reading{200_W});
  EXPECT_EQ(limit(), 200_W);
  EXPECT_FALSE(seat->renew(1));
  EXPECT_EQ(seat->overruled(1), "");
  EXPECT_FALSE(seat->restore(1));
  EXPECT_EQ(limit(), 250_W);
  EXPECT_FALSE(seat->set(1, SetPersistence{true}).error);
  EXPECT_FALSE(seat->release(1, "released"));
  EXPECT_EQ(gpu_->persistence_mode(), Reading{false});
  EXPECT_EQ(seat->renew(1)->kind(), ErrorKind::not_found);
  EXPECT_GE(seat->calls(), 3U);
}

TEST_F(SetterServes, WhenZeusdIsGoneAllIsPutBackInRealTime) {
  auto seat = remote();
  ASSERT_FALSE(seat->take(1, 60_s, {}).error);
  ASSERT_FALSE(seat->set(1, SetPowerLimit{200_W}).error);
  seat.reset();
  join();
  EXPECT_EQ(limit(), 250_W);
  EXPECT_FALSE(record("GPU-0"));
}

TEST_F(SetterServes, AMessageThatIsNoneEndsTheLeasesInRealTime) {
  Request request{.kind = RequestKind::take, .lease = 1, .term = 60};
  ASSERT_TRUE(ours_->send(bytes_of(request)));
  Answer answer;
  ASSERT_EQ(ours_->receive(std::as_writable_bytes(std::span{&answer, 1})), sizeof answer);
  request = {.kind = RequestKind::set, .lease = 1};
  put_setting(request, SetPowerLimit{200_W});
  ASSERT_TRUE(ours_->send(bytes_of(request)));
  ASSERT_EQ(ours_->receive(std::as_writable_bytes(std::span{&answer, 1})), sizeof answer);
  ASSERT_EQ(limit(), 200_W);
  request.kind = static_cast<RequestKind>(99);
  ASSERT_TRUE(ours_->send(bytes_of(request)));
  EXPECT_EQ(ours_->receive(std::as_writable_bytes(std::span{&answer, 1})), std::nullopt) << "the channel has ended";
  join();
  EXPECT_EQ(limit(), 250_W);
}

TEST(RemoteSeatTest, WithoutASetterOrWithAForeignAnswerEachCallFails) {
  std::array<Channel, 2> ends = Channel::pair();
  const Answer foreign{.kind = RequestKind::renew};
  ASSERT_TRUE(ends[1].send(bytes_of(foreign)));
  RemoteSeat seat{std::move(ends[0]), 0_s};
  EXPECT_EQ(seat.release(1, "")->kind(), ErrorKind::unavailable);
  ends[1] = {};
  EXPECT_EQ(seat.take(1, 60_s, {}).error->kind(), ErrorKind::unavailable);
  EXPECT_EQ(seat.set(1, SetPersistence{}).error->kind(), ErrorKind::unavailable);
  EXPECT_TRUE(seat.put_back_what_was_left());
  EXPECT_NE(seat.overruled(1), "");
}

TEST(RemoteAuditTest, LinesThatFindNoRoomAreCountedInTheNextOne) {
  std::array<Channel, 2> ends = Channel::pair();
  RemoteAudit audit{std::move(ends[0])};
  constexpr std::size_t many = 5000;  // more than a socket holds
  for (std::size_t i = 0; i < many; ++i) {
    audit.write_refusal({"ann", "/gpu/set_power_limit", "", "403"});
  }
  AuditRequest line;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span{&line, 1});
  std::size_t waiting = 0;
  pollfd asked{ends[1].descriptor(), POLLIN, 0};
  for (; ::poll(&asked, 1, 0) == 1; ++waiting) {
    ASSERT_EQ(ends[1].receive(bytes), sizeof line);
    EXPECT_EQ(refusal_from(line).outcome, "403");
  }
  ASSERT_LT(waiting, many);
  for (const std::string& outcome :
       {"403 (after " + std::to_string(many - waiting) + " that are not written)", std::string{"403"}}) {
    audit.write_refusal({"ann", "/gpu/set_power_limit", "", "403"});
    ASSERT_EQ(ends[1].receive(bytes), sizeof line);
    EXPECT_EQ(refusal_from(line).outcome, outcome);
  }
}

}  // namespace
}  // namespace zeus::setter
