#include "drivers/session/entry_point.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace zeus::drivers {

void Gpu::set_limit(Watts limit) const {
  const physics::PowerLimits& allowed = model().limits;
  const Watts shortfall = session.limit_shortfall(index, now);
  session.change_controls(index, [&](physics::Controls& controls) {
    controls.requested_limit = limit;
    controls.ceiling = shortfall > Watts{0} ? std::max(limit - shortfall, allowed.min) : allowed.max;
  });
}

bool Gpu::lock_clocks(Megahertz low, Megahertz high) const {
  const physics::ClockRange& range = model().clocks;
  if (low > range.max || high < range.min) {
    return false;
  }
  session.change_controls(index, [&](physics::Controls& controls) {
    controls.clocks_locked = true;
    controls.lock_min = std::max(low, range.min);
    controls.lock_max = std::min(high, range.max);
  });
  return true;
}

void Gpu::unlock_clocks() const {
  session.change_controls(index, [](physics::Controls& controls) {
    controls.clocks_locked = false;
    controls.lock_min = Megahertz{};
    controls.lock_max = Megahertz{};
  });
}

std::optional<Refusal> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now) {
  if (session.refuses_caller(name, gpu)) {
    return Refusal::no_permission;
  }
  const std::optional<Fault> fault = session.strike(name, gpu, now);
  if (!fault) {
    return std::nullopt;
  }
  if (fault->delay > Seconds{0}) {
    SystemClock& clock = Attachment::instance().clock();
    clock.sleep_until(clock.now() + fault->delay);
  }
  switch (fault->kind) {
    case FaultKind::permission:
      return Refusal::no_permission;
    case FaultKind::unsupported:
      return Refusal::not_supported;
    case FaultKind::timeout:
      return Refusal::timeout;
    case FaultKind::lost:
      return Refusal::lost;
    default:
      return std::nullopt;
  }
}

Refusal refusal_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    switch (error.kind()) {
      case ErrorKind::invalid_argument:
        return Refusal::invalid_argument;
      case ErrorKind::permission_denied:
        return Refusal::no_permission;
      case ErrorKind::not_found:
        return Refusal::not_found;
      case ErrorKind::timeout:
        return Refusal::timeout;
      default:
        return Refusal::unknown;
    }
  } catch (const std::bad_alloc&) {
    return Refusal::memory;
  } catch (...) {
    return Refusal::unknown;
  }
}

void copy_text(std::string_view text, char* buffer, std::size_t size) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

unsigned percent(double share) {
  return static_cast<unsigned>(std::lround(std::clamp(share, 0.0, 1.0) * 100));
}

}  // namespace zeus::drivers
