#include "library/leased_clock.hpp"

#include "library/machine.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace zeus::library {

namespace {

// Without progress for this long, the clock is put back: longer than any computation or pause for a checkpoint.
constexpr Seconds pipeline_term{900};

control::Lease leased(int gpu) {
  return lease_book().acquire(numbered_gpu(gpu).identity().uuid, pipeline_term,
                              {.of_lessor = control::LessorPatience::a_moment});
}

void set_default_power_limit(control::Lease& lease) {
  const PowerLimits limits = lease.gpu().power_limits();
  if (!limits.standard) {
    return;
  }
  Watts wanted = *limits.standard;
  if (const auto& lessor = this_machine().lessor) {
    Watts allowed{0};
    for (const device::WattRange& range : lessor->allowed_power_limits(lease.gpu().identity().uuid)) {
      if (range.minimum <= wanted) {
        allowed = std::max(allowed, range.maximum);
      }
    }
    if (allowed > Watts{0}) {
      wanted = std::min(wanted, allowed);
    }
  }
  if (limits.current.optional() != wanted) {
    (void)lease.set_power_limit(wanted);
  }
}

void lock_memory_highest(control::Lease& lease) {
  const auto clocks = lease.gpu().supported_memory_clocks().optional();
  if (!clocks || clocks->empty()) {
    return;
  }
  try {
    (void)lease.lock_clocks(ClockDomain::memory, {.minimum = clocks->front(), .maximum = clocks->front()});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unavailable) {
      throw;
    }
  }
}

}  // namespace

const device::Gpu& numbered_gpu(int gpu) {
  const Machine& machine = this_machine();
  if (gpu < 0 || static_cast<std::size_t>(gpu) >= machine.gpus.size()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no GPU {}", gpu),
                fmt::format("{} can be seen here; `zeus devices` lists them", machine.gpus.size())};
  }
  return *machine.gpus[static_cast<std::size_t>(gpu)].gpu;
}

LeasedClock::LeasedClock(int gpu) : lease_{leased(gpu)} {
  set_default_power_limit(lease_);
  lock_memory_highest(lease_);
}

void LeasedClock::lock(Megahertz clock) {
  (void)lease_.lock_clocks(ClockDomain::graphics, {.minimum = clock, .maximum = clock});
}

std::vector<Megahertz> LeasedClock::supported() const {
  const auto memory = lease_.gpu().supported_memory_clocks().optional();
  if (!memory || memory->empty()) {
    return {};
  }
  std::vector<Megahertz> clocks =
      lease_.gpu().supported_graphics_clocks(memory->front()).optional().value_or(std::vector<Megahertz>{});
  std::ranges::sort(clocks, std::ranges::greater{});
  return clocks;
}

std::optional<Megahertz> LeasedClock::running() {
  return lease_.gpu().clocks().sm.optional();
}

}  // namespace zeus::library
