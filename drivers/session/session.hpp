// One set of virtual GPUs, shared by all processes that attach to it: their models, states, controls, loads, faults and
// the log of calls. `zeus virtual` creates it, the driver libraries attach. It has no thread and no tick: everything is
// worked out when somebody asks. It lasts as long as one process has it, and stays whole when any of them is killed.
// All members may be called from any thread of any process; those that read take no lock. A Session refers to the Clock
// it was given, which outlives it.
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

// The variable by which a command's processes find their session.
inline constexpr const char* session_variable = "ZEUS_VIRTUAL_SESSION";

struct SessionPlan {
  std::vector<PlannedGpu> gpus;
  std::string spec;  // as the user wrote it
  std::string name;  // empty for a session that only its command's processes share
  std::vector<physics::TablePoint> table;
  std::vector<Fault> faults;
  // Whether processes of other users may attach, while the process that made it lives.
  bool shared = false;
};

// The bus of a virtual GPU's PCI address, 0000:BUS:00.0.
constexpr unsigned pci_bus(std::uint32_t index) {
  return index + 1;
}

class Session {
 public:
  static Session create(const SessionPlan& plan, const Clock& clock);
  // By the text of session_variable; nothing when that session is gone. See Segment::attach for what is an Error.
  static std::optional<Session> attach(std::string_view reference, const Clock& clock);
  // The same, for who passes the session on to processes of its own.
  static std::optional<Session> adopt(std::string_view reference, const Clock& clock);

  // What session_variable is to be for processes of this one, which created or adopted the session.
  [[nodiscard]] std::string reference() const { return segment_.reference(); }
  [[nodiscard]] std::string_view spec() const { return shared_->spec.data(); }
  [[nodiscard]] std::string_view name() const { return shared_->name.data(); }
  [[nodiscard]] std::uint32_t gpu_count() const { return shared_->gpu_count; }

  // The machine's monotonic time, unless somebody moved or stopped the session's clock.
  [[nodiscard]] Instant now() const;
  [[nodiscard]] Seconds since_start(Instant at) const { return at - Instant{shared_->started_ns}; }
  [[nodiscard]] WallTime civil(Instant at) const;
  // The latest time whose civil time is not after this, in whole microseconds since 1970.
  [[nodiscard]] Instant after_stamp(std::uint64_t microseconds) const;
  // Forward only, by at most ten days at a time.
  void advance_clock(Seconds amount);
  void set_clock_running(bool running);

  // The GPUs that a vendor's library shows, in its order, as indices of the session; and the place of one in its list.
  [[nodiscard]] const std::vector<std::uint32_t>& shown_by(Vendor vendor) const {
    return by_vendor_[static_cast<std::size_t>(vendor)];
  }
  [[nodiscard]] std::uint32_t place(std::uint32_t index) const;
  // The same for all processes of the session, and for no other session of this machine.
  [[nodiscard]] std::string uuid(std::uint32_t index) const;
  [[nodiscard]] std::string serial(std::uint32_t index) const;
  [[nodiscard]] const physics::GpuModel& model(std::uint32_t index) const { return gpus_[index].model; }
  // A GPU as its sensors and its truth are read; valid as long as the session. `index` is below gpu_count().
  [[nodiscard]] physics::Gpu gpu(std::uint32_t index) const;
  // The same with what has passed by `now` published, which makes reading cheap, unless another process is at it.
  [[nodiscard]] physics::Gpu gpu_at(std::uint32_t index, Instant now) const;
  // The moments within (from, to] at which the power of this GPU steps, as far back as its state remembers.
  [[nodiscard]] std::vector<Instant> power_changes(std::uint32_t index, Instant from, Instant to) const;
  void change_controls(std::uint32_t index, const std::function<void(physics::Controls&)>& change);
  [[nodiscard]] GpuSettings settings(std::uint32_t index) const;
  void change_settings(std::uint32_t index, const std::function<void(GpuSettings&)>& change);
  // A load stays until the next one, also when the process that put it there is gone.
  void set_load(std::uint32_t index, const physics::Load& load, std::int64_t process);
  // Who put the present load there, while that process lives and the load is not idle.
  [[nodiscard]] std::optional<LoadOwner> load_owner(std::uint32_t index) const;

  // The energy counter as its sensor and the faults show it; nothing when this GPU has none.
  [[nodiscard]] std::optional<Joules> counter(std::uint32_t index, Instant now) const;
  // The same in whole steps of a vendor's counter. It never counts a step less for an energy that was summed up another
  // way, as another process may have done.
  [[nodiscard]] std::optional<std::uint64_t> counted(std::uint32_t index, Instant now, Joules step) const;

  void add_fault(const Fault& fault);
  void clear_faults();
  // The first fault of calls that hits this call now, counted as hit; `gpu` is nothing for calls about no GPU.
  [[nodiscard]] std::optional<Fault> strike(std::string_view entry_point, std::optional<std::uint32_t> gpu,
                                            Instant now) const;
  // Whether a call of this name is left to administrators, and the caller is none.
  [[nodiscard]] bool refuses_caller(std::string_view entry_point, std::optional<std::uint32_t> gpu) const;
  // How far below what is asked a limit is enforced.
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
  std::unique_ptr<SessionDoor> door_;  // of who made it, where it is open to other users
};

}  // namespace zeus::drivers
