// A GPU's setters, with a line in the audit log for each call: who asked and why, what was in force before, what was
// asked, what is enforced, and the result. A change that cannot be logged is not made; a setting is put back even so.
// What a guardian has put back is noted later.
// Threads: that of the device alone, except for the counts. Ownership: shares the log.
#pragma once

#include "base/clock.hpp"
#include "control/lease_record.hpp"
#include "device/backend.hpp"
#include "device/gpu_control.hpp"
#include "setter/work/audit_log.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zeus::setter {

class AuditedControl final : public device::GpuControl {
 public:
  // `log` may be null: calls are then only counted. `control` sets `gpu`.
  AuditedControl(std::shared_ptr<device::Gpu> gpu, std::shared_ptr<device::GpuControl> control,
                 std::shared_ptr<AuditLog> log);

  // On whose behalf the following calls are made.
  struct Cause {
    std::string why;
    std::string who;
    std::uint64_t lease = 0;
    bool is_putting_back = false;
  };
  void begin(Cause cause) {
    cause_ = std::move(cause);
    failed_by_.reset();
  }
  // Why the last call since begin() was refused.
  [[nodiscard]] std::optional<Reason> failed_by() const { return failed_by_; }

  // Logs what another process has put back: a line for each setting, with the outcome "noted".
  void note(const control::Claim& put_back);

  device::Outcome set_power_limit(Watts limit) override;
  device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override;
  device::Outcome reset_clocks(ClockDomain domain) override;
  [[nodiscard]] bool reset_frees_all_domains() const override { return control_->reset_frees_all_domains(); }
  device::Outcome reset_all_clocks() override;
  [[nodiscard]] Seconds longest() const override { return control_->longest(); }
  device::Outcome set_persistence_mode(bool enabled) override;

  // How often a setter was called. Any thread.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  template <typename Before, typename After, typename Call>
  device::Outcome audited(const std::string& what, const std::string& asked, Before before, After after, Call call);

  std::shared_ptr<device::Gpu> gpu_;
  std::shared_ptr<device::GpuControl> control_;
  std::shared_ptr<AuditLog> log_;
  Cause cause_;
  std::optional<Reason> failed_by_;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace zeus::setter
