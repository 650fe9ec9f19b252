// The part of Session that applies faults.

#include "drivers/session/administrator.hpp"
#include "drivers/session/session.hpp"
#include "physics/sensors.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace zeus::drivers {

// Applies the faults of the counter: first resets and jumps, then wrapping, then standing still.
Joules Session::distort(std::uint32_t index, Instant now, Joules shown) const {
  FaultTable table;
  shared_->faults.read(table);
  const Seconds elapsed = since_start(now);
  std::optional<Joules> frozen;
  Joules wrap;
  Joules start;
  Joules back;
  for (std::size_t i = 0; i < table.count; ++i) {
    const Fault& fault = table.entries[i].fault;
    if (!fault.is_of_counter() || !fault.concerns(index) || elapsed < fault.from) {
      continue;
    }
    if (fault.kind == FaultKind::reset) {
      start = std::max(start, anchor(index, i, fault));
    } else if (fault.kind == FaultKind::backward) {
      back += fault.energy;
    } else if (fault.kind == FaultKind::wrap) {
      wrap = fault.energy;
    } else if (fault.active(elapsed)) {
      frozen = anchor(index, i, fault);
    }
  }
  Joules value = std::max(frozen.value_or(shown) - start - back, Joules{0});
  if (wrap > Joules{0}) {
    value = Joules{std::fmod(value.value(), wrap.value())};
  }
  return value;
}

// The counter's value when the fault began. The physics remembers it for some seconds at least, and the first process
// that looks writes it down for all.
Joules Session::anchor(std::uint32_t index, std::size_t entry, const Fault& fault) const {
  const Instant began = Instant{shared_->started_ns} + fault.from;
  const RobustLock lock{shared_->fault_mutex};
  FaultTable table;
  shared_->faults.read(table);
  FaultEntry& present = table.entries[entry];
  if (fault.concerns(index) && present.fault.gpu == index && present.anchored != 0) {
    return present.anchor;
  }
  const physics::Gpu view = gpu(index);
  const auto reading = physics::Sensors{view}.counter(began);
  const Joules value = reading ? reading->value : Joules{0};
  if (present.fault.gpu == index) {
    present.anchor = value;
    present.anchored = 1;
    shared_->faults.write(table);
  }
  return value;
}

void Session::add_fault(const Fault& fault) {
  if (fault.gpu != Fault::every_gpu && fault.gpu >= gpu_count()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("there is no virtual GPU {}", fault.gpu),
                fmt::format("count from 0 to {}", gpu_count() - 1)};
  }
  const RobustLock lock{shared_->fault_mutex};
  FaultTable table;
  shared_->faults.read(table);
  // A fault of all counters becomes one for each, since each counter has its own value when the fault begins.
  const bool split = fault.is_of_counter() && fault.gpu == Fault::every_gpu;
  for (std::uint32_t index = 0; index < (split ? gpu_count() : 1); ++index) {
    if (table.count == FaultTable::capacity) {
      throw Error{ErrorKind::unavailable, fmt::format("a session has at most {} faults", FaultTable::capacity),
                  "clear the present ones first"};
    }
    table.entries[table.count] = {.fault = fault};
    if (split) {
      table.entries[table.count].fault.gpu = index;
    }
    shared_->fault_hits[table.count].store(0);
    ++table.count;
  }
  shared_->faults.write(table);
  shared_->fault_count.store(table.count, std::memory_order_release);
}

void Session::clear_faults() {
  const RobustLock lock{shared_->fault_mutex};
  shared_->fault_count.store(0, std::memory_order_release);
  shared_->faults.write(FaultTable{});
}

bool Session::refuses_caller(std::string_view entry_point, std::optional<std::uint32_t> gpu) const {
  return gpu && shared_gpu(*gpu).root_only != 0 && is_setter(entry_point) &&
         !caller_may_administer(shared_->user_namespace);
}

std::optional<Fault> Session::strike(std::string_view entry_point, std::optional<std::uint32_t> gpu,
                                     Instant now) const {
  if (shared_->fault_count.load(std::memory_order_acquire) == 0) {
    return std::nullopt;
  }
  FaultTable table;
  shared_->faults.read(table);
  const Seconds elapsed = since_start(now);
  for (std::size_t i = 0; i < table.count; ++i) {
    const Fault& fault = table.entries[i].fault;
    const bool of_calls = !fault.is_of_counter() && fault.kind != FaultKind::lower;
    const bool concerned = gpu ? fault.concerns(*gpu) : fault.gpu == Fault::every_gpu && fault.kind != FaultKind::lost;
    if (of_calls && concerned && fault.active(elapsed) && fault.matches(entry_point) &&
        (fault.times == 0 || shared_->fault_hits[i].fetch_add(1) < fault.times)) {
      return fault;
    }
  }
  return std::nullopt;
}

Watts Session::limit_shortfall(std::uint32_t index, Instant now) const {
  Watts shortfall;
  if (shared_->fault_count.load(std::memory_order_acquire) != 0) {
    FaultTable table;
    shared_->faults.read(table);
    for (std::size_t i = 0; i < table.count; ++i) {
      const Fault& fault = table.entries[i].fault;
      if (fault.kind == FaultKind::lower && fault.concerns(index) && fault.active(since_start(now))) {
        shortfall = std::max(shortfall, fault.power);
      }
    }
  }
  return shortfall;
}

}  // namespace zeus::drivers
