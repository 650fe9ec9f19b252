#include "setter/work/audited_control.hpp"

#include <fmt/format.h>

#include <utility>

namespace zeus::setter {

namespace {

std::string text_of(const Reading<Watts>& watts) {
  return watts ? fmt::format("{:.6g} W", watts->value()) : to_string(watts.failure());
}

std::string text_of(const ClockRange& range) {
  return fmt::format("{:.6g} to {:.6g} MHz", range.minimum.value(), range.maximum.value());
}

std::string text_of(const Reading<std::optional<ClockRange>>& locked) {
  if (!locked) {
    return to_string(locked.failure());
  }
  return *locked ? text_of(**locked) : "unlocked";
}

std::string text_of(const Reading<bool>& mode) {
  return mode ? (*mode ? "on" : "off") : to_string(mode.failure());
}

}  // namespace

AuditedControl::AuditedControl(std::shared_ptr<device::Gpu> gpu, std::shared_ptr<device::GpuControl> control,
                               std::shared_ptr<AuditLog> log)
    : gpu_{std::move(gpu)}, control_{std::move(control)}, log_{std::move(log)} {
}

template <typename Before, typename After, typename Call>
device::Outcome AuditedControl::audited(const std::string& what, const std::string& asked, Before before, After after,
                                        Call call) {
  if (!log_) {
    ++calls_;
    device::Outcome outcome = call();
    failed_by_ = outcome ? std::nullopt : std::optional{outcome.failure().reason};
    return outcome;
  }
  const std::optional<Error> full = log_->set_aside();
  if (full && !cause_.is_putting_back) {
    return Failure{Reason::unknown, "the change cannot be written to the audit log, so it is not made"};
  }
  const std::string found = before();
  ++calls_;
  device::Outcome outcome = call();
  failed_by_ = outcome ? std::nullopt : std::optional{outcome.failure().reason};
  log_->write({.gpu = gpu_->identity().uuid,
               .why = cause_.why,
               .who = cause_.who,
               .lease = cause_.lease,
               .what = what,
               .before = found,
               .asked = asked,
               .enforced = after(),
               .outcome = outcome ? "done" : to_string(outcome.failure())});
  return outcome;
}

void AuditedControl::note(const control::Claim& put_back) {
  if (!log_) {
    return;
  }
  static_cast<void>(log_->set_aside());
  const auto write = [&](const std::string& what, const std::string& asked, const std::string& enforced) {
    log_->write({.gpu = gpu_->identity().uuid,
                 .why = "put back: its holder did not",
                 .who = to_text(put_back),
                 .lease = 0,
                 .what = what,
                 .before = "not known",
                 .asked = asked,
                 .enforced = enforced,
                 .outcome = "noted"});
  };
  for (const auto& [domain, clocks] : put_back.found.clocks) {
    write(fmt::format("{}_clocks", to_string(domain)), text_of(Reading{clocks.locked_to}),
          text_of(gpu_->locked_clocks(domain)));
  }
  if (put_back.found.power_limit) {
    write("power_limit", text_of(Reading{*put_back.found.power_limit}), text_of(gpu_->power_limits().enforced));
  }
  if (put_back.found.persistence_mode) {
    write("persistence_mode", text_of(Reading{*put_back.found.persistence_mode}), text_of(gpu_->persistence_mode()));
  }
}

device::Outcome AuditedControl::set_power_limit(Watts limit) {
  return audited(
      "power_limit", text_of(Reading{limit}), [&] { return text_of(gpu_->power_limits().current); },
      [&] { return text_of(gpu_->power_limits().enforced); }, [&] { return control_->set_power_limit(limit); });
}

device::Outcome AuditedControl::lock_clocks(ClockDomain domain, ClockRange range) {
  const auto locked = [&] { return text_of(gpu_->locked_clocks(domain)); };
  return audited(fmt::format("{}_clocks", to_string(domain)), text_of(range), locked, locked,
                 [&] { return control_->lock_clocks(domain, range); });
}

device::Outcome AuditedControl::reset_clocks(ClockDomain domain) {
  const auto locked = [&] { return text_of(gpu_->locked_clocks(domain)); };
  return audited(fmt::format("{}_clocks", to_string(domain)), "unlocked", locked, locked,
                 [&] { return control_->reset_clocks(domain); });
}

device::Outcome AuditedControl::reset_all_clocks() {
  if (!control_->resets_all_clocks_at_once()) {
    return GpuControl::reset_all_clocks();
  }
  const auto locked = [&] { return text_of(gpu_->locked_clocks(ClockDomain::graphics)); };
  return audited("clocks", "unlocked", locked, locked, [&] { return control_->reset_all_clocks(); });
}

device::Outcome AuditedControl::set_persistence_mode(bool enabled) {
  const auto mode = [&] { return text_of(gpu_->persistence_mode()); };
  return audited("persistence_mode", enabled ? "on" : "off", mode, mode,
                 [&] { return control_->set_persistence_mode(enabled); });
}

}  // namespace zeus::setter
