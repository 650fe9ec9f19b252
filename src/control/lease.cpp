#include "control/lease.hpp"

#include "base/log.hpp"

#include <exception>
#include <utility>

namespace zeus::control {

Lease::Lease(std::unique_ptr<LeaseBacking> backing, std::optional<LeaseClient> client)
    : backing_{std::move(backing)}, client_{std::move(client)} {
}

Lease::Lease(Lease&& other) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  // The former lease ends together with this temporary.
  Lease taken{std::move(other)};
  std::swap(backing_, taken.backing_);
  std::swap(client_, taken.client_);
  return *this;
}

Lease::~Lease() {
  if (!backing_ || !backing_->is_of_this_process()) {
    return;
  }
  try {
    backing_->release();
  } catch (const std::exception& error) {
    log::error(error.what());
  }
}

LeaseBacking& Lease::of_this_process() const {
  backing_->require_this_process();
  return *backing_;
}

const device::Gpu& Lease::gpu() const {
  return backing_->gpu();
}

PowerSetting Lease::set_power_limit(Watts limit) {
  return of_this_process().set_power_limit(limit);
}

ClockSetting Lease::lock_clocks(ClockDomain domain, ClockRange range) {
  return of_this_process().lock_clocks(domain, range);
}

void Lease::unlock_all_clocks() {
  of_this_process().unlock_all_clocks();
}

void Lease::unlock_clocks(ClockDomain domain) {
  of_this_process().unlock_clocks(domain);
}

Reading<bool> Lease::set_persistence_mode(bool enabled) {
  return of_this_process().set_persistence_mode(enabled);
}

std::string Lease::overruled() const {
  return of_this_process().overruled();
}

void Lease::restore() {
  of_this_process().restore();
}

// Called often: the backing checks whose process this is only when it does more than a comparison.
void Lease::renew() {
  backing_->renew();
}

void Lease::release() {
  of_this_process().release();
}

}  // namespace zeus::control
