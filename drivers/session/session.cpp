#include "drivers/session/session.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "base/random.hpp"
#include "drivers/session/administrator.hpp"
#include "physics/sensors.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace zeus::drivers {

namespace {

constexpr Seconds longest_jump{10 * 86'400.0};
// The memory that a process with a load on a GPU is said to use: assumed, a context and a small model.
constexpr std::uint64_t context_bytes = std::uint64_t{1} << 30U;

// Tells a process from a later one of the same ID; nothing if it does not run.
std::optional<std::uint64_t> start_of(std::int64_t process) {
  const std::optional<Holder> found = find_holder(FileTree{}, process);
  return found ? std::optional{found->started} : std::nullopt;
}

template <std::size_t Size>
void store_text(std::array<char, Size>& to, std::string_view text) {
  to.fill('\0');
  std::ranges::copy(text.substr(0, Size - 1), to.begin());
}

std::size_t bytes_needed(std::size_t gpus, std::size_t rows) {
  return sizeof(SharedSession) + gpus * sizeof(SharedGpu) + rows * sizeof(physics::TablePoint);
}

// The corners of a square wave within (from, to].
void add_corners(const physics::Segment& segment, Instant from, Instant to, std::vector<Instant>& corners) {
  if (segment.period_ns <= 0) {
    return;
  }
  const std::int64_t periods = (from.nanoseconds - segment.origin.nanoseconds) / segment.period_ns - 1;
  for (Instant begin{segment.origin.nanoseconds + periods * segment.period_ns}; begin <= to;
       begin.nanoseconds += segment.period_ns) {
    for (const Instant corner : {begin, Instant{begin.nanoseconds + segment.first_lasts_ns}}) {
      if (corner > from && corner <= to) {
        corners.push_back(corner);
      }
    }
  }
}

// A process that is killed while it holds the lock leaves the state consistent: physics publishes with one store.
class TriedLock {
 public:
  explicit TriedLock(RobustMutex& mutex) : mutex_{mutex}, held_{mutex.try_lock()} {}
  TriedLock(const TriedLock&) = delete;
  TriedLock& operator=(const TriedLock&) = delete;
  ~TriedLock() {
    if (held_) {
      mutex_.unlock();
    }
  }
  [[nodiscard]] bool held() const { return held_; }

 private:
  RobustMutex& mutex_;
  bool held_;
};

}  // namespace

Session::Session(Segment segment, const Clock& clock)
    : segment_{std::move(segment)},
      shared_{std::launder(reinterpret_cast<SharedSession*>(segment_.bytes().data()))},
      clock_{&clock} {
  if (segment_.bytes().size() < sizeof(SharedSession) ||
      segment_.bytes().size() < bytes_needed(shared_->gpu_count, shared_->table_rows)) {
    throw Error{ErrorKind::corrupt_data,
                "the memory of this session of virtual GPUs is smaller than its own header says",
                "start `zeus virtual` again"};
  }
  std::byte* const gpus = segment_.bytes().data() + sizeof(SharedSession);
  gpus_ = {std::launder(reinterpret_cast<SharedGpu*>(gpus)), shared_->gpu_count};
  table_ = {std::launder(reinterpret_cast<physics::TablePoint*>(gpus + gpus_.size_bytes())), shared_->table_rows};
  for (std::uint32_t index = 0; index < gpu_count(); ++index) {
    by_vendor_[std::min(static_cast<std::size_t>(gpus_[index].vendor), vendor_count - 1)].push_back(index);
  }
}

std::uint32_t Session::place(std::uint32_t index) const {
  const std::vector<std::uint32_t>& list = shown_by(gpus_[index].vendor);
  return static_cast<std::uint32_t>(std::ranges::find(list, index) - list.begin());
}

Session Session::create(const SessionPlan& plan, const Clock& clock) {
  if (plan.faults.size() > FaultTable::capacity) {
    throw Error{ErrorKind::invalid_argument, fmt::format("there are {} faults", plan.faults.size()),
                fmt::format("a session has at most {}", FaultTable::capacity)};
  }
  Segment segment = Segment::create(bytes_needed(plan.gpus.size(), plan.table.size()), session_layout,
                                    plan.door.value_or(Admission::own_user));
  std::byte* place = segment.bytes().data();
  auto* const shared = std::launder(reinterpret_cast<SharedSession*>(place));
  shared->gpu_count = static_cast<std::uint32_t>(plan.gpus.size());
  shared->table_rows = static_cast<std::uint32_t>(plan.table.size());
  shared->started_ns = clock.now().nanoseconds;
  shared->civil_offset_ns = clock.wall().microseconds_since_epoch * 1000 - shared->started_ns;
  shared->user_namespace = user_namespace_of_caller();
  shared->fault_mutex.initialise();
  store_text(shared->name, plan.name);
  store_text(shared->spec, plan.spec);
  place += sizeof(SharedSession);
  for (const PlannedGpu& planned : plan.gpus) {
    auto* const gpu = std::launder(reinterpret_cast<SharedGpu*>(place));
    gpu->mutex.initialise();
    gpu->model = planned.model;
    gpu->vendor = planned.vendor;
    gpu->root_only = planned.root_only ? 1 : 0;
    place += sizeof(SharedGpu);
  }
  std::ranges::copy(plan.table, std::launder(reinterpret_cast<physics::TablePoint*>(place)));
  Session session{std::move(segment), clock};
  for (std::uint32_t index = 0; index < session.gpu_count(); ++index) {
    physics::Gpu gpu = session.gpu(index);
    gpu.start(Instant{shared->started_ns});
    if (const std::optional<Watts> limit = plan.gpus[index].limit) {
      physics::Controls controls = gpu.controls();
      controls.requested_limit = *limit;
      gpu.set_controls(Instant{shared->started_ns}, controls);
    }
  }
  for (const Fault& fault : plan.faults) {
    session.add_fault(fault);
  }
  if (plan.door) {
    session.door_ = std::make_unique<SessionDoor>(session.segment_.head().token, session.segment_.file(), *plan.door);
  }
  return session;
}

std::optional<Session> Session::attach(std::string_view reference, const Clock& clock) {
  std::optional<Segment> segment = Segment::attach(reference, session_layout);
  return segment ? std::optional{Session{std::move(*segment), clock}} : std::nullopt;
}

std::optional<Session> Session::adopt(std::string_view reference, const Clock& clock) {
  std::optional<Segment> segment = Segment::adopt(reference, session_layout);
  return segment ? std::optional{Session{std::move(*segment), clock}} : std::nullopt;
}

Instant Session::now() const {
  const std::int64_t frozen = shared_->frozen_at_ns.load(std::memory_order_relaxed);
  return frozen != 0 ? Instant{frozen}
                     : Instant{clock_->now().nanoseconds + shared_->clock_shift_ns.load(std::memory_order_relaxed)};
}

WallTime Session::civil(Instant at) const {
  return {(at.nanoseconds + shared_->civil_offset_ns) / 1000};
}

Instant Session::after_stamp(std::uint64_t microseconds) const {
  constexpr auto latest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2000);
  const auto bounded = static_cast<std::int64_t>(std::min(microseconds, latest));
  return {(bounded + 1) * 1000 - 1 - shared_->civil_offset_ns};
}

// A named session has the same GPUs each time, so that stored knowledge about them stays valid.
std::array<std::uint32_t, 2> Session::identity_key() const {
  std::uint64_t key = segment_.head().token;
  if (!name().empty()) {
    key = 0xcbf29ce484222325ULL;
    for (const char c : name()) {
      key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
  }
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)};
}

std::string Session::uuid(std::uint32_t index) const {
  const auto [a, b, c, d] = philox_block({index, 0, 0, 0}, identity_key());
  return fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", a, b >> 16U, b & 0xffffU, c >> 16U, c & 0xffffU,
                     d);
}

std::string Session::serial(std::uint32_t index) const {
  return fmt::format("{:013}", philox_block({index, 1, 0, 0}, identity_key())[0]);
}

void Session::advance_clock(Seconds amount) {
  if (!(amount >= Seconds{0}) || amount > longest_jump) {
    throw Error{ErrorKind::invalid_argument, "the clock of a session only goes forward, by at most ten days at a time"};
  }
  const std::int64_t nanoseconds = (Instant{} + amount).nanoseconds;
  std::int64_t frozen = shared_->frozen_at_ns.load();
  while (frozen != 0 && !shared_->frozen_at_ns.compare_exchange_weak(frozen, frozen + nanoseconds)) {
  }
  if (frozen == 0) {
    shared_->clock_shift_ns.fetch_add(nanoseconds);
  }
}

void Session::set_clock_running(bool running) {
  const RobustLock lock{shared_->fault_mutex};
  const Instant present = now();
  if (running && shared_->frozen_at_ns.load() != 0) {
    shared_->clock_shift_ns.store(present.nanoseconds - clock_->now().nanoseconds);
    shared_->frozen_at_ns.store(0);
  } else if (!running) {
    shared_->frozen_at_ns.store(present.nanoseconds);
  }
}

SharedGpu& Session::shared_gpu(std::uint32_t index) const {
  return gpus_[index];
}

physics::Gpu Session::gpu(std::uint32_t index) const {
  SharedGpu& shared = shared_gpu(index);
  return {shared.model, shared.state, table_};
}

physics::Gpu Session::gpu_at(std::uint32_t index, Instant now) const {
  physics::Gpu view = gpu(index);
  if (view.needs_advance(now)) {
    const TriedLock lock{shared_gpu(index).mutex};
    if (lock.held()) {
      view.advance(now);
    }
  }
  return view;
}

std::vector<Instant> Session::power_changes(std::uint32_t index, Instant from, Instant to) const {
  std::vector<Instant> changes;
  const TriedLock lock{shared_gpu(index).mutex};
  if (!lock.held()) {
    return changes;
  }
  const physics::GpuState& state = shared_gpu(index).state;
  const std::uint64_t end = state.segments_published;
  const std::uint64_t begin = end - std::min<std::uint64_t>(end, physics::GpuState::segment_slots);
  for (std::uint64_t number = begin; number < end; ++number) {
    const physics::Segment& segment = state.segments[number % physics::GpuState::segment_slots];
    const Instant stop =
        number + 1 < end ? state.segments[(number + 1) % physics::GpuState::segment_slots].start : segment.end;
    if (segment.start > from && segment.start <= to) {
      changes.push_back(segment.start);
    }
    add_corners(segment, std::max(from, segment.start), std::min(to, stop), changes);
  }
  return changes;
}

void Session::change_controls(std::uint32_t index, const std::function<void(physics::Controls&)>& change) {
  const RobustLock lock{shared_gpu(index).mutex};
  physics::Gpu view = gpu(index);
  physics::Controls controls = view.controls();
  change(controls);
  if (controls != view.controls()) {
    view.set_controls(now(), controls);
  }
}

GpuSettings Session::settings(std::uint32_t index) const {
  GpuSettings settings;
  shared_gpu(index).settings.read(settings);
  return settings;
}

void Session::change_settings(std::uint32_t index, const std::function<void(GpuSettings&)>& change) {
  const RobustLock lock{shared_gpu(index).mutex};
  GpuSettings values = settings(index);
  change(values);
  shared_gpu(index).settings.write(values);
}

void Session::set_load(std::uint32_t index, const physics::Load& load, std::int64_t process) {
  const bool idle = load.shape == physics::LoadShape::constant && load.first.kind == physics::DemandKind::idle;
  const LoadOwner owner{.process = idle ? 0 : process,
                        .started = start_of(process).value_or(0),
                        .memory_bytes = idle ? 0 : context_bytes};
  const RobustLock lock{shared_gpu(index).mutex};
  shared_gpu(index).owner.write(owner);
  gpu(index).set_load(now(), load);
}

std::optional<LoadOwner> Session::load_owner(std::uint32_t index) const {
  LoadOwner owner;
  shared_gpu(index).owner.read(owner);
  const bool alive = owner.process != 0 && start_of(owner.process) == owner.started;
  return alive ? std::optional{owner} : std::nullopt;
}

// A process that changes a load takes the time before the change is visible to all. On a busy machine another process
// may read in between. What it was shown under the old load does not become less: a counter never decreases.
std::optional<Joules> Session::counter(std::uint32_t index, Instant now) const {
  const physics::Gpu view = gpu_at(index, now);
  const auto reading = physics::Sensors{view}.counter(now);
  if (!reading) {
    return std::nullopt;
  }
  std::atomic<double>& counted = shared_gpu(index).counted;
  double most = counted.load(std::memory_order_relaxed);
  while (most < reading->value.value() && !counted.compare_exchange_weak(most, reading->value.value())) {
  }
  const Joules value = std::max(Joules{most}, reading->value);
  return shared_->fault_count.load(std::memory_order_acquire) == 0 ? value : distort(index, now, value);
}

std::optional<std::uint64_t> Session::counted(std::uint32_t index, Instant now, Joules step) const {
  // Sums differ in their last digits by where they are split. A thousandth of a step is far above that. It keeps a
  // value on a whole step, which is common at a steady power, from being cut off to the step before.
  constexpr double nudge = 1e-3;
  const std::optional<Joules> value = counter(index, now);
  return value ? std::optional{static_cast<std::uint64_t>(std::max(*value / step, 0.0) + nudge)} : std::nullopt;
}

}  // namespace zeus::drivers
