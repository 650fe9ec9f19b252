// One set of virtual GPUs, shared by all processes that attach to it: their models, states, controls, loads, faults and
// the log of calls. `zeus virtual` creates it, the driver libraries attach. It has no thread and no tick: everything is
// computed on request. It lasts as long as one process has it, and stays consistent if any of them is killed. Any
// thread of any process may call all members; those that read take no lock. A Session refers to the Clock that it was
// given, which outlives it.
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

// The environment variable by which a command's processes find their session.
inline constexpr const char* session_variable = "ZEUS_VIRTUAL_SESSION";

struct SessionPlan {
  std::vector<PlannedGpu> gpus;
  std::string spec;  // as the user wrote it
  std::string name;  // empty if only the command's own processes share the session
  std::vector<physics::TablePoint> table;
  std::vector<Fault> faults;
  // Whether processes of other users may attach, as long as the process that made it lives.
  bool shared = false;
};

// The bus of a virtual GPU's PCI address, 0000:BUS:00.0.
constexpr unsigned pci_bus(std::uint32_t index) {
  return index + 1;
}

class Session {
 public:
  static Session create(const SessionPlan& plan, const Clock& clock);
  // By the value of session_variable; nothing if that session is gone. See Segment::attach for Errors.
  static std::optional<Session> attach(std::string_view reference, const Clock& clock);
  // The same, for a process that passes the session on to processes of its own.
  static std::optional<Session> adopt(std::string_view reference, const Clock& clock);

  // The value of session_variable for children of this process, which created or adopted the session.
  [[nodiscard]] std::string reference() const { return segment_.reference(); }
  [[nodiscard]] std::string_view spec() const { return shared_->spec.data(); }
  [[nodiscard]] std::string_view name() const { return shared_->name.data(); }
  [[nodiscard]] std::uint32_t gpu_count() const { return shared_->gpu_count; }

  // The machine's monotonic time, unless the session's clock was moved or stopped.
  [[nodiscard]] Instant now() const;
  [[nodiscard]] Seconds since_start(Instant at) const { return at - Instant{shared_->started_ns}; }
  [[nodiscard]] WallTime civil(Instant at) const;
  // The latest time whose civil time is not after this, in whole microseconds since 1970.
  [[nodiscard]] Instant after_stamp(std::uint64_t microseconds) const;
  // Forward only, by at most ten days at a time.
  void advance_clock(Seconds amount);
  void set_clock_running(bool running);

  // The GPUs that a vendor's library shows, in its order, as indices of the session; and the position of one in that
  // list.
  [[nodiscard]] const std::vector<std::uint32_t>& shown_by(Vendor vendor) const {
    return by_vendor_[static_cast<std::size_t>(vendor)];
  }
  [[nodiscard]] std::uint32_t place(std::uint32_t index) const;
  // The same in all processes of the session, and in no other session of this machine.
  [[nodiscard]] std::string uuid(std::uint32_t index) const;
  [[nodiscard]] std::string serial(std::uint32_t index) const;
  [[nodiscard]] const physics::GpuModel& model(std::uint32_t index) const { return gpus_[index].model; }
  // A GPU, for reading its sensors and its true values; valid as long as the session. `index` is below gpu_count().
  [[nodiscard]] physics::Gpu gpu(std::uint32_t index) const;
  // The same, and publishes the past until `now`, which makes reading cheap; skipped if another process is doing so.
  [[nodiscard]] physics::Gpu gpu_at(std::uint32_t index, Instant now) const;
  // The moments within (from, to] at which this GPU's power changes, as far back as its state remembers.
  [[nodiscard]] std::vector<Instant> power_changes(std::uint32_t index, Instant from, Instant to) const;
  void change_controls(std::uint32_t index, const std::function<void(physics::Controls&)>& change);
  [[nodiscard]] GpuSettings settings(std::uint32_t index) const;
  void change_settings(std::uint32_t index, const std::function<void(GpuSettings&)>& change);
  // A load stays until the next one, even if the process that set it is gone.
  void set_load(std::uint32_t index, const physics::Load& load, std::int64_t process);
  // The process that set the present load, if it lives and the load is not idle.
  [[nodiscard]] std::optional<LoadOwner> load_owner(std::uint32_t index) const;

  // The energy counter as its sensor and the faults show it; nothing if this GPU has none.
  [[nodiscard]] std::optional<Joules> counter(std::uint32_t index, Instant now) const;
  // The same in whole steps of a vendor's counter. It never counts a step less for an energy that was summed in another
  // way, as another process may have done.
  [[nodiscard]] std::optional<std::uint64_t> counted(std::uint32_t index, Instant now, Joules step) const;

  void add_fault(const Fault& fault);
  void clear_faults();
  // The first fault of calls that hits this call now; counts the hit. `gpu` is nothing for calls about no particular
  // GPU.
  [[nodiscard]] std::optional<Fault> strike(std::string_view entry_point, std::optional<std::uint32_t> gpu,
                                            Instant now) const;
  // True if this call is reserved for administrators, and the caller is not one.
  [[nodiscard]] bool refuses_caller(std::string_view entry_point, std::optional<std::uint32_t> gpu) const;
  // How far below the requested limit the enforced one is.
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
  std::unique_ptr<SessionDoor> door_;  // in the process that made it, if it is open to other users
};

}  // namespace zeus::drivers
