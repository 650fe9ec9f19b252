// A LeaseDesk over two GPUs in memory, on a loop that the test drives: nothing happens until the test advances it.
#pragma once

#include "daemon/lease_desk.hpp"
#include "device/driver_gate.hpp"
#include "setter/work/audited_control.hpp"
#include "setter/work/local_seat.hpp"
#include "tests/support/hand_loop.hpp"
#include "tests/support/leased_gpus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/eventfd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zeus::daemon {

class LeaseDeskTest : public ::testing::Test, protected test::LocalStand {
 protected:
  LeaseDeskTest() {
    for (const auto& gpu : {gpu_, other_gpu_}) {
      auto audited = std::make_shared<setter::AuditedControl>(gpu, gpu, nullptr);
      device::DiscoveredGpu found = discovered(gpu);
      found.control = audited;
      gpus_.push_back(found);
      audited_.push_back(audited);
    }
    book_.emplace(ledger(), gpus_, guardian_, clock_);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      seats_.push_back(make_seat(i, *book_));
    }
    make_desk(built_in_policy());
    loop_.tick = [this](Instant now) {
      for (const auto& seat : seats_) {
        seat->thread().tick(now);
      }
      desk_->tick(now);
    };
  }

  std::unique_ptr<GpuSeat> make_seat(std::size_t number, control::LeaseBook& book) {
    return std::make_unique<GpuSeat>(
        loop_, GpuAsked{static_cast<int>(number), gpus_[number].gpu->identity().uuid},
        std::make_shared<setter::LocalSeat>(book, ledger_,
                                            setter::LocalSeat::Parts{gpus_[number], audited_[number], gate_}, clock_),
        DeviceThread::Bounds{.patience = Seconds{2}, .waiting = 4});
  }

  void make_desk(Policy policy) {
    // Process 71 is a child of 7, and 711 of 71.
    const auto descends = [](const ClientProcess& child, const ClientProcess& ancestor) {
      return child.pid != ancestor.pid && std::to_string(child.pid).starts_with(std::to_string(ancestor.pid));
    };
    desk_ = std::make_unique<LeaseDesk>(
        loop_, std::vector<GpuSeat*>{seats_[0].get(), seats_[1].get()}, std::move(policy),
        LeaseDesk::Ways{.draw = [this] { return fmt::format("lease-{}", ++drawn_); }, .descends = descends});
  }

  void set_policy(Policy policy) {
    desk_->set_policy(std::move(policy), [](const Client&) { return true; });
  }

  // A connected process, which lives until the test ends it.
  Client process(pid_t pid, uid_t user = 1000) {
    return {.user = user,
            .groups = {},
            .process = ClientProcess{pid, static_cast<std::uint64_t>(pid) * 10,
                                     std::make_shared<const FileDescriptor>(::eventfd(0, EFD_CLOEXEC))},
            .token = {}};
  }
  void die(const Client& client) {
    loop_.make_readable(client.process->end->get());
    settle();
  }

  LeaseDesk::Taken take(const Client& client, const std::set<int>& gpus, Seconds term = Seconds{60},
                        Seconds wait = {}) {
    std::optional<LeaseDesk::Taken> taken;
    desk_->take({client, gpus, term, wait, {}}, [&](LeaseDesk::Taken one) { taken = std::move(one); });
    loop_.run_until([&] { return taken.has_value(); });
    return *taken;
  }
  Refusals set(const Client& client, const std::string& lease, int gpu, const Setting& setting) {
    std::optional<Refusals> refusals;
    desk_->set(client, lease, {gpu}, setting, {},
               [&](Refusals all, const std::vector<Outcome>&) { refusals = std::move(all); });
    loop_.run_until([&] { return refusals.has_value(); });
    return *refusals;
  }
  Refusals set_without_lease(const Client& client, const std::set<int>& gpus, const Setting& setting) {
    std::optional<Refusals> refusals;
    desk_->set_without_lease(client, gpus, setting, {}, [&](Refusals all) { refusals = std::move(all); });
    loop_.run_until([&] { return refusals.has_value(); });
    return *refusals;
  }
  Refusals release(const Client& client, const std::string& lease) {
    std::optional<Refusals> refusals;
    desk_->release(client, lease, [&](Refusals all) { refusals = std::move(all); });
    loop_.run_until([&] { return refusals.has_value(); });
    return *refusals;
  }
  // Runs the loop until all seats are idle.
  void settle() {
    loop_.run_until([&] { return seats_[0]->thread().is_idle() && seats_[1]->thread().is_idle(); });
  }
  [[nodiscard]] Watts limit(int index) { return *gpu(index).power_limits().current; }

  test::HandLoop loop_{clock_};
  control::Ledger ledger_ = ledger();
  std::vector<device::DiscoveredGpu> gpus_;
  std::vector<std::shared_ptr<setter::AuditedControl>> audited_;
  std::shared_ptr<device::DriverGate> gate_ = std::make_shared<device::DriverGate>();
  std::optional<control::LeaseBook> book_;
  std::vector<std::unique_ptr<GpuSeat>> seats_;
  std::unique_ptr<LeaseDesk> desk_;
  int drawn_ = 0;
};

}  // namespace zeus::daemon
