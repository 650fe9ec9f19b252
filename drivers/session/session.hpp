// A set of virtual GPUs, shared by all processes that attach to it: their models, states, controls, loads and faults,
// and the log of calls. `zeus virtual` creates it, and the driver libraries attach to it. It has no thread and no
// timer: everything is computed on request. It exists as long as one process has it, and stays consistent if a process
// is killed. Any thread of any process may call all members; members that only read take no lock. The Clock must
// outlive the Session.
#pragma once

#include "base/clock.hpp"
#include "drivers/session/call_log.hpp"
#include "drivers/session/fault.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/segment.hpp"
#include "drivers/session/session_door.hpp"
#include "drivers/session/session_layout.hpp"
#include "physics/controls.hpp"
#include "physics/gpu.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::drivers {

// The environment variable through which a command's processes find their session.
inline constexpr const char* session_variable = "ZEUS_VIRTUAL_SESSION";

struct SessionPlan {
  std::vector<PlannedGpu> gpus;
  std::string spec;  // as the user wrote it
  std::string name;  // empty if only the command's own processes share the session
  std::vector<physics::TablePoint> table;
  std::vector<Fault> faults;
  // Which processes that are not descendants, or have other rights, may attach while the creating process lives.
  std::optional<Admission> door;
};

// The bus of a virtual GPU's PCI address, 0000:BUS:00.0.
constexpr unsigned pci_bus(std::uint32_t index) {
  return index + 1;
}

class Session {
 public:
  static Session create(const SessionPlan& plan, const Clock& clock);
  // Attaches by the value of session_variable; nothing if that session is gone. Segment::attach lists the Errors.
  static std::optional<Session> attach(std::string_view reference, const Clock& clock);
  // The same, for a process that passes the session on to its own child processes.
  static std::optional<Session> adopt(std::string_view reference, const Clock& clock);

  // The value of session_variable for children of this process, which created or adopted the session.
  [[nodiscard]] std::string reference() const { return segment_.reference(); }
  [[nodiscard]] std::string_view spec() const { return shared_->spec.data(); }
  [[nodiscard]] std::string_view name() const { return shared_->name.data(); }
  [[nodiscard]] std::uint32_t gpu_count() const { return shared_->gpu_count; }

  // The machine's monotonic time, unless the session's clock was advanced or stopped.
  [[nodiscard]] Instant now() const;
  [[nodiscard]] Seconds since_start(Instant at) const { return at - Instant{shared_->started_ns}; }
  [[nodiscard]] WallTime civil(Instant at) const;
  // The latest time whose civil time is not after `microseconds`, counted since 1970.
  [[nodiscard]] Instant after_stamp(std::uint64_t microseconds) const;
  // Only forward, and at most ten days at a time.
  void advance_clock(Seconds amount);
  void set_clock_running(bool running);

  // The GPUs that a vendor's library shows, in its order, as indices in the session; and the position of one GPU in
  // that list.
  [[nodiscard]] const std::vector<std::uint32_t>& shown_by(Vendor vendor) const {
    return by_vendor_[static_cast<std::size_t>(vendor)];
  }
  [[nodiscard]] std::uint32_t place(std::uint32_t index) const;
  // The same in all processes of the session, and different from other sessions of this machine.
  [[nodiscard]] std::string uuid(std::uint32_t index) const;
  [[nodiscard]] std::string serial(std::uint32_t index) const;
  [[nodiscard]] const physics::GpuModel& model(std::uint32_t index) const { return gpus_[index].model; }
  // A GPU, to read its sensors and its true values; valid as long as the session. `index` must be below gpu_count().
  [[nodiscard]] physics::Gpu gpu(std::uint32_t index) const;
  // The same. It also publishes the past up to `now`, which makes later reads cheap, unless another process is doing
  // so.
  [[nodiscard]] physics::Gpu gpu_at(std::uint32_t index, Instant now) const;
  // The times within (from, to] at which this GPU's power changes, as far back as its state reaches.
  [[nodiscard]] std::vector<Instant> power_changes(std::uint32_t index, Instant from, Instant to) const;
  void change_controls(std::uint32_t index, const std::function<void(physics::Controls&)>& change);
  [[nodiscard]] GpuSettings settings(std::uint32_t index) const;
  void change_settings(std::uint32_t index, const std::function<void(GpuSettings&)>& change);
  // A load applies until the next one, even if the process that set it has ended.
  void set_load(std::uint32_t index, const physics::Load& load, std::int64_t process);
  // The process that set the current load, if it lives and the load is not idle.
  [[nodiscard]] std::optional<LoadOwner> load_owner(std::uint32_t index) const;

  // The energy counter as the sensor and the faults show it; nothing if this GPU has none.
  [[nodiscard]] std::optional<Joules> counter(std::uint32_t index, Instant now) const;
  // The same in whole steps of a vendor's counter. Rounding never costs a step, even if another process has summed the
  // energy in another order.
  [[nodiscard]] std::optional<std::uint64_t> counted(std::uint32_t index, Instant now, Joules step) const;

  void add_fault(const Fault& fault);
  void clear_faults();
  // The first fault for calls that applies to this call now; counts it as used. `gpu` is empty for calls that concern
  // no particular GPU.
  [[nodiscard]] std::optional<Fault> strike(std::string_view entry_point, std::optional<std::uint32_t> gpu,
                                            Instant now) const;
  // True if only administrators may make this call, and the caller is not one.
  [[nodiscard]] bool refuses_caller(std::string_view entry_point, std::optional<std::uint32_t> gpu) const;
  // By how much the enforced limit is below the requested one.
  [[nodiscard]] Watts limit_shortfall(std::uint32_t index, Instant now) const;

  [[nodiscard]] CallLog& calls() const { return shared_->calls; }

 private:
  Session(Segment segment, const Clock& clock);
  [[nodiscard]] SharedGpu& shared_gpu(std::uint32_t index) const;
  [[nodiscard]] std::array<std::uint32_t, 2> identity_key() const;
  [[nodiscard]] Joules distort(std::uint32_t index, Instant now, Joules shown) const;
  [[nodiscard]] Joules anchor(std::uint32_t index, std::size_t entry, const Fault& fault) const;

  Segment segment_;
  SharedSession* shared_;
  std::span<SharedGpu> gpus_;
  std::span<const physics::TablePoint> table_;
  std::array<std::vector<std::uint32_t>, vendor_count> by_vendor_;
  const Clock* clock_;
  std::unique_ptr<SessionDoor> door_;  // only in the creating process, if the plan has one
};

}  // namespace zeus::drivers
