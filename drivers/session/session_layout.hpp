// The shared memory of a session, in this order: SharedSession, one SharedGpu for each GPU, the rows of the load's
// table. Only Session reads and writes it. Everything here is valid when all its bits are zero, holds no pointer, and
// is consistent whenever any process is killed. Change the version in `session_layout` with every change of it.
#pragma once

#include "drivers/session/call_log.hpp"
#include "drivers/session/fault.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/robust_mutex.hpp"
#include "drivers/session/segment.hpp"
#include "drivers/session/versioned_cell.hpp"
#include "physics/gpu_model.hpp"
#include "physics/gpu_state.hpp"

#include <zeus/units.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace zeus::drivers {

// The version is in the low byte, above it the size of the physics' data in the segment: a driver and a program refuse
// each other if they were built with different physics.
inline constexpr std::uint32_t session_layout =
    3 + 256 * static_cast<std::uint32_t>(sizeof(physics::GpuModel) + sizeof(physics::GpuState));

// A fault of the session. For a fault of the counter, `anchor` is the counter's value when the fault began, once a
// process has looked.
struct FaultEntry {
  Fault fault;
  Joules anchor;
  std::uint64_t anchored = 0;
};

struct FaultTable {
  static constexpr std::size_t capacity = 128;

  std::uint64_t count = 0;
  std::array<FaultEntry, capacity> entries{};
};

// The process that set the present load of a GPU. `started` tells it from a later process with the same ID.
struct LoadOwner {
  std::int64_t process = 0;
  std::uint64_t started = 0;
  std::uint64_t memory_bytes = 0;
};

// Settings of a GPU that only the driver uses, not the physics.
struct GpuSettings {
  std::uint32_t persistence = 0;
  std::uint32_t compute_mode = 0;
  std::uint32_t memory_lock_min = 0;
  std::uint32_t memory_lock_max = 0;
};

struct SharedGpu {
  // For writers of what follows.
  RobustMutex mutex;
  physics::GpuModel model;
  Vendor vendor;
  std::uint32_t root_only;
  physics::GpuState state;
  VersionedCell<GpuSettings> settings;
  VersionedCell<LoadOwner> owner;
  // The most joules that the energy counter has shown.
  std::atomic<double> counted;
};

struct SharedSession {
  Segment::Head head;
  std::uint32_t gpu_count;
  std::uint32_t table_rows;
  std::int64_t started_ns;
  // Added to a time of the session to get civil time (UTC). Fixed, so that no timestamp ever moves.
  std::int64_t civil_offset_ns;
  // The maker's user namespace: administrators are those of this namespace.
  std::uint64_t user_namespace;
  std::array<char, 64> name;
  std::array<char, 512> spec;
  // The session's clock is the machine's clock shifted by this; or it stands still at `frozen_at_ns` if that is not 0.
  std::atomic<std::int64_t> clock_shift_ns;
  std::atomic<std::int64_t> frozen_at_ns;

  RobustMutex fault_mutex;
  // With it, a call in a session without faults costs one atomic read.
  std::atomic<std::uint64_t> fault_count;
  VersionedCell<FaultTable> faults;
  // How many calls each fault has hit.
  std::array<std::atomic<std::uint64_t>, FaultTable::capacity> fault_hits;

  CallLog calls;
};

}  // namespace zeus::drivers
