// A lease that the daemon holds for this process. As in control/lease_backing.hpp.
//
// When the daemon is restarted, it has put back what was set, and the lease is gone. The lease is then taken again, the
// settings are set again, and a line in the log says so. No call waits longer than a moment for the daemon; one that
// sets something while it is away throws control::LessorAway. renew() checks the daemon twice a second. It throws
// LessorAway, each time, once the daemon has been away for longer than a restart takes, and takes the lease again if it
// comes back. If another process has the GPU by then, that is an Error.
#pragma once

#include "backends/zeusd/daemon_link.hpp"
#include "control/lease_backing.hpp"
#include "control/lessor.hpp"
#include "device/backend.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::backends::zeusd {

class RemoteLease final : public control::LeaseBacking {
 public:
  // Takes it. Errors as for Lessor::take().
  RemoteLease(std::shared_ptr<DaemonLink> link, device::DiscoveredGpu gpu, Seconds term, control::Lends lends,
              control::LessorPatience patience);

  [[nodiscard]] const device::Gpu& gpu() const override { return *gpu_.gpu; }
  [[nodiscard]] std::string name() const override { return name_; }
  control::PowerSetting set_power_limit(Watts limit) override;
  control::ClockSetting lock_clocks(ClockDomain domain, ClockRange range) override;
  void unlock_clocks(ClockDomain domain) override;
  Reading<bool> set_persistence_mode(bool enabled) override;
  [[nodiscard]] std::string overruled() override;
  void restore() override;
  void renew() override;
  void release() override;

 private:
  // What this lease sets, in the form of a request: to be set again, the latest of each kind, in the original order.
  struct Setting {
    std::string_view path;
    Query query;
    std::string what;  // "power limit 150 W"
    std::string kind;  // a later setting of the same kind replaces it
  };

  void take();
  void take_again();
  void set_again();
  void require_ours();
  // For a moment or not, by the patience of the lease. A GPU whose driver hangs is LessorAway too.
  transport::Answer ask_of_gpu(std::uint32_t number, std::string_view method, std::string_view path, const Query& query,
                               bool is_owed = false);
  // `setting` is empty in requests about the lease as a whole; a setting is of the GPU by its present number.
  transport::Answer ask_of_lease(std::string_view method, std::string_view path, const Query& setting,
                                 bool is_owed = false);
  // The same for this lease; survives a restart of the daemon.
  transport::Answer ask(std::string_view method, std::string_view path, const Query& query);
  transport::Answer ask_once(std::string_view method, std::string_view path, const Query& query);
  std::optional<protocol::GpuSettings> set(Setting setting);
  void end(const Error& why);
  [[nodiscard]] std::string instance_now();
  void renewed(Instant asked);
  void look(Instant now);
  [[nodiscard]] Error overdue() const;

  std::shared_ptr<DaemonLink> link_;
  device::DiscoveredGpu gpu_;
  std::string name_;
  Seconds term_;
  control::Lends lends_;
  control::LessorPatience patience_;

  std::mutex mutex_;
  std::uint32_t number_ = 0;
  std::string id_;
  std::string instance_;  // the run of the daemon that it was taken from
  Instant renew_at_;
  Instant ends_;                          // unless it is renewed, as far as this process knows
  std::atomic<std::int64_t> look_at_{0};  // what renew() compares with
  std::optional<Instant> away_since_;
  std::vector<Setting> settings_;
  bool again_due_ = false;  // the daemon was restarted, and has not got all of them yet
  std::optional<Error> over_;
  bool released_ = false;
};

}  // namespace zeus::backends::zeusd
