#include "daemon/daemon_metrics.hpp"

#include "daemon/node.hpp"
#include "device/driver_gate.hpp"
#include "setter/work/audited_control.hpp"
#include "setter/work/local_seat.hpp"
#include "tests/support/hand_loop.hpp"
#include "tests/support/leased_gpus.hpp"

#include <gmock/gmock.h>

namespace zeus::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DaemonMetricsTest : public ::testing::Test, protected test::LocalStand {
 protected:
  DaemonMetricsTest() {
    const auto audited = std::make_shared<setter::AuditedControl>(gpu_, gpu_, nullptr);
    const device::DiscoveredGpu gpu{gpu_, audited, 0};
    const auto gate = std::make_shared<device::DriverGate>();
    book_.emplace(ledger(), std::vector{gpu}, guardian_, clock_);
    auto reader = std::make_unique<GpuReader>(loop_, gpu, gate, DeviceThread::Bounds{});
    auto seat = std::make_unique<GpuSeat>(
        loop_, GpuAsked{0, gpu_->identity().uuid},
        std::make_shared<setter::LocalSeat>(*book_, ledger_, setter::LocalSeat::Parts{gpu, audited, gate}, clock_),
        DeviceThread::Bounds{});
    node_.gpus.push_back(
        {.identity = gpu_->identity(), .reader = std::move(reader), .seat = std::move(seat), .stream = {}});
    node_.desk =
        std::make_unique<LeaseDesk>(loop_, std::vector{node_.gpus[0].seat.get()}, built_in_policy(),
                                    LeaseDesk::Ways{.draw = [] { return std::string{"secret-name"}; },
                                                    .descends = [](const auto&, const auto&) { return false; }});
    loop_.tick = [](Instant) {};
  }

  std::string text() {
    protocol::GpuReadings readings;
    node_.gpus[0].reader->ask(GpuReader::Parts::usual,
                              [&](GpuReader::End, const protocol::GpuReadings& read) { readings = read; });
    loop_.run_until([&] { return node_.gpus[0].reader->thread().is_idle(); });
    node_.metrics.note_gpu(node_.gpus[0], readings);
    return node_.metrics.text(node_);
  }
  // Sets a limit on behalf of this user's process.
  void set(const Client& client) {
    bool done = false;
    node_.desk->set_without_lease(client, {0}, SetPowerLimit{200_W}, {}, [&](const Refusals&) { done = true; });
    loop_.run_until([&] { return done; });
  }

  test::HandLoop loop_{clock_};
  control::Ledger ledger_ = ledger();
  std::optional<control::LeaseBook> book_;
  Node node_{
      .loop = loop_, .access = {}, .identity = {}, .gpus = {}, .cpus = {}, .no_device = {}, .desk = {}, .metrics = {}};
};

TEST_F(DaemonMetricsTest, LeavesOutValuesThatCanNoLongerBeRead) {
  gpu_->its_energy = [this] { return device::Stamped<Joules>{1234_J, clock_.now(), {}}; };
  EXPECT_THAT(text(), HasSubstr("zeusd_gpu_energy_joules_total{gpu=\"0\",uuid=\"GPU-0\"} 1234\n"));
  gpu_->its_energy = [] { return Reason::lost; };
  EXPECT_THAT(text(), Not(HasSubstr("zeusd_gpu_energy_joules_total{")));
}

TEST_F(DaemonMetricsTest, ShowsAHolderAndItsFoundSettingsButNeverTheLeasesName) {
  EXPECT_THAT(text(), Not(HasSubstr("zeusd_gpu_lease{")));
  set({.user = {}, .groups = {}, .process = {}, .token = "a\"b\n"});
  const std::string held = text();
  EXPECT_THAT(held, HasSubstr(R"(zeusd_gpu_lease{gpu="0",uuid="GPU-0",holder=")"));
  EXPECT_THAT(held, HasSubstr(R"(lease="implicit"} 1)"));
  EXPECT_THAT(held, HasSubstr(R"(kind="found"} 250)"));
  EXPECT_THAT(held, HasSubstr(R"(kind="enforced"} 200)"));
  EXPECT_THAT(held, HasSubstr("zeusd_gpu_setter_calls_total{gpu=\"0\",uuid=\"GPU-0\"} 1\n"));
  EXPECT_THAT(held, Not(HasSubstr("secret-name")));
  bool closed = false;
  node_.desk->close([&] { closed = true; });
  loop_.run_until([&] { return closed; });
  const std::string after = text();
  EXPECT_THAT(after, Not(HasSubstr("zeusd_gpu_lease{")));
  EXPECT_THAT(after, Not(HasSubstr("kind=\"found\"")));
}

TEST_F(DaemonMetricsTest, RequestsAreCountedByRouteAndStatus) {
  node_.metrics.count_request("/time", 200, Seconds{0.002});
  node_.metrics.count_request("/time", 200, Seconds{5});
  node_.metrics.count_request("other", 404, Seconds{0});
  const std::string told = text();
  EXPECT_THAT(told, HasSubstr(R"(zeusd_requests_total{route="/time",status="200"} 2)"));
  EXPECT_THAT(told, HasSubstr(R"(zeusd_requests_total{route="other",status="404"} 1)"));
  EXPECT_THAT(told, HasSubstr(R"(zeusd_request_duration_seconds_bucket{route="/time",le="3"} 1)"));
  EXPECT_THAT(told, HasSubstr(R"(zeusd_request_duration_seconds_count{route="/time"} 2)"));
}

}  // namespace
}  // namespace zeus::daemon
