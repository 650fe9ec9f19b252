#include "control/guard_duty.hpp"

#include "control/restoration.hpp"
#include "control/side_by_side.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zeus::control {

namespace {

// If the kernel cannot wake us at the holder's end, we look this often.
constexpr Seconds look_every = 250_ms;
constexpr Seconds first_retry = 100_ms;
constexpr Seconds longest_retry = 5_s;
constexpr Seconds give_up_after = 60_s;
// Waiting for other workers takes no longer than this. A longer attempt was hanging in the driver, so the guardian does
// not give up for another minute.
constexpr Seconds longest_attempt = work_patience + 5_s;

class Guard {
 public:
  Guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock)
      : duty_{duty}, clock_{clock}, workers_{clock} {
    for (device::Backend* const backend : backends) {
      devices_.push_back({backend, {}});
    }
#ifdef SYS_pidfd_open
    end_of_holder_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, duty.holder, 0))};
#endif
    // Checked after it was opened, so that a reused process ID is not mistaken for the holder.
    gone_ = !holder_lives();
  }

  bool stand() {
    look_for_devices();
    say_ready();
    while (true) {
      const bool all_put_back = attempt();
      if (over()) {
        if (all_put_back && !has_leases()) {
          clear_begun(duty_.ledger, clock_);
          return true;
        }
        over_since_ = over_since_ ? over_since_ : clock_.now();
        if (clock_.now() - *over_since_ > give_up_after && !is_at_work_on_ours()) {
          return false;
        }
      }
      wait();
    }
  }

 private:
  // The holder will change nothing more: it has ended, or it has closed the connection and holds no lease.
  [[nodiscard]] bool over() const { return gone_ || (closed_ && !has_held_leases()); }

  // True if this cannot be found out now: a guardian that ends too early leaves GPUs changed.
  [[nodiscard]] bool holder_lives() const {
    try {
      const std::optional<Holder> holder = find_holder(duty_.ledger.machine(), duty_.holder);
      return holder && (duty_.started == 0 || holder->started == duty_.started);
    } catch (const Error&) {
      return true;
    }
  }

  void say_ready() const {
    std::string line{guard_is_ready};
    for (const Devices& one : devices_) {
      for (const device::DiscoveredGpu& gpu : one.gpus) {
        line += ' ' + uuid_of(gpu);
      }
    }
    line += '\n';
    static_cast<void>(::send(duty_.connection.get(), line.data(), line.size(), MSG_NOSIGNAL));
  }

  // One back-end, and the GPUs that it found at the last look.
  struct Devices {
    device::Backend* backend;
    std::vector<device::DiscoveredGpu> gpus;
  };

  // Only between attempts: a driver is opened again only when nothing uses it any more. Records name GPUs by UUID, so
  // GPUs that the visibility variables hide are put back as well.
  void look_for_devices() {
    for (Devices& one : devices_) {
      if (std::ranges::none_of(one.gpus, [&](const auto& gpu) { return workers_.is_at_work_on(uuid_of(gpu)); })) {
        one.gpus.clear();
        one.gpus = device::take_inventory(std::array{one.backend}, Environment{}).gpus;
      }
    }
  }

  [[nodiscard]] static std::string uuid_of(const device::DiscoveredGpu& gpu) { return gpu.gpu->identity().uuid; }
  // In the form that restore_abandoned() takes: empty if the GPU is not there.
  [[nodiscard]] std::vector<device::DiscoveredGpu> find(const std::string& uuid) const {
    for (const Devices& one : devices_) {
      const auto found = std::ranges::find(one.gpus, uuid, uuid_of);
      if (found != one.gpus.end()) {
        return {*found};
      }
    }
    return {};
  }

  // A GPU that could not be put back, and when to try again.
  struct Retry {
    int attempts = 0;
    Seconds pause = first_retry;
    Instant due;
  };

  // Puts back each GPU that is due. False while something of our holder's is still not put back.
  bool attempt() {
    for (const SideBySide::Finished& one : workers_.take_finished()) {
      Retry& retry = retries_[one.gpu];
      retry.due = clock_.now() + retry.pause;
      retry.pause = std::min(retry.pause * 2, longest_retry);
      if (one.took > longest_attempt) {
        over_since_.reset();
      }
    }
    std::vector<std::string> due;
    bool failed_again = false;
    bool all_put_back = true;
    for (const auto& [gpu, is_ours] : left_to_put_back()) {
      all_put_back = all_put_back && !is_ours;
      if (!workers_.is_at_work_on(gpu) && clock_.now() >= retries_[gpu].due) {
        due.push_back(gpu);
        failed_again = failed_again || (is_ours && retries_[gpu].attempts > 1);
      }
    }
    // The driver may have been reloaded since its devices were opened.
    if (failed_again) {
      look_for_devices();
    }
    for (const std::string& gpu : due) {
      ++retries_[gpu].attempts;
      workers_.start(gpu, [this, gpu, seen = find(gpu)] {
        try {
          static_cast<void>(restore_abandoned(duty_.ledger, seen, clock_, gpu));
        } catch (const std::exception&) {
          return;  // it will be tried again
        }
      });
    }
    return all_put_back;
  }

  // The GPUs that still have something to put back, and whether it is our holder's. A GPU whose record is held or gone
  // has nothing.
  std::map<std::string, bool> left_to_put_back() {
    std::map<std::string, bool> left;
    for (const std::string& gpu : duty_.ledger.gpus()) {
      try {
        const std::optional<LeaseRecord> record = duty_.ledger.read(gpu);
        if (record && duty_.ledger.standing(*record, clock_.now()) != Standing::held) {
          left[gpu] = is_of_ours(*record);
        }
      } catch (const Error&) {
        continue;  // a record that cannot be read belongs to no holder
      }
    }
    std::erase_if(retries_, [&](const auto& one) { return !left.contains(one.first); });
    return left;
  }

  [[nodiscard]] bool is_at_work_on_ours() const {
    return std::ranges::any_of(ours(), [&](const Ours& one) { return workers_.is_at_work_on(one.record.gpu); });
  }

  // A lease that our holder has, or that was borrowed from it.
  struct Ours {
    LeaseRecord record;
    bool borrowed = false;
    Instant ends;  // unless renewed
  };

  [[nodiscard]] bool is_ours(const Claim& claim) const {
    return claim.holder.pid == duty_.holder && claim.holder.started == duty_.started;
  }

  [[nodiscard]] bool is_of_ours(const LeaseRecord& record) const {
    return is_ours(record) || (record.child() != nullptr && is_ours(*record.child()));
  }

  // The leases that are written down now. A record that cannot be read belongs to no holder.
  [[nodiscard]] std::vector<Ours> ours() const {
    std::vector<Ours> found;
    for (const std::string& gpu : duty_.ledger.gpus()) {
      try {
        const std::optional<LeaseRecord> record = duty_.ledger.read(gpu);
        const Claim* const child = record ? record->child() : nullptr;
        if (record && is_ours(*record)) {
          found.push_back({*record, false, record->expires});
        } else if (child != nullptr && is_ours(*child)) {
          found.push_back({*record, true, std::min(child->expires, record->expires)});
        }
      } catch (const Error&) {
        continue;
      }
    }
    return found;
  }
  [[nodiscard]] Standing standing(const Ours& one) const { return duty_.ledger.standing(one.record, clock_.now()); }
  [[nodiscard]] bool has_leases() const { return !ours().empty(); }
  [[nodiscard]] bool has_held_leases() const {
    return std::ranges::any_of(ours(), [&](const Ours& one) {
      const Standing now = standing(one);
      return now == Standing::held || (now == Standing::child_abandoned && !one.borrowed);
    });
  }

  // Waits until the holder ends or sends something, a lease runs out, work on a GPU is done, or a retry is due.
  void wait() {
    const Instant now = clock_.now();
    std::optional<Seconds> pause;
    const auto no_longer_than = [&](Seconds limit) { pause = pause ? std::min(*pause, limit) : limit; };
    for (const Ours& one : ours()) {
      if (now < one.ends) {
        no_longer_than(one.ends - now);
      }
      const auto retry = retries_.find(one.record.gpu);
      if (retry != retries_.end() && !workers_.is_at_work_on(one.record.gpu)) {
        no_longer_than(std::max(retry->second.due - now, 0_s));
      }
    }
    if (!end_of_holder_ || closed_ || workers_.has_finished() < 0) {
      no_longer_than(look_every);
    }
    constexpr double longest_ms = 1e9;
    const int timeout = pause ? static_cast<int>(std::min(std::ceil(Milliseconds{*pause}.value()), longest_ms)) : -1;
    // An ended holder's descriptor stays readable, and waiting for it would return at once.
    std::array<pollfd, 3> asked{pollfd{closed_ ? -1 : duty_.connection.get(), POLLIN, 0},
                                pollfd{gone_ ? -1 : end_of_holder_.get(), POLLIN, 0},
                                pollfd{workers_.has_finished(), POLLIN, 0}};
    if (::poll(asked.data(), asked.size(), timeout) > 0 && asked[0].revents != 0) {
      listen();
    }
    gone_ = gone_ || asked[1].revents != 0 || ((!end_of_holder_ || closed_) && !holder_lives());
  }

  void listen() {
    std::array<char, 256> bytes{};
    const ssize_t count = ::recv(duty_.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    closed_ = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  }

  const GuardDuty& duty_;
  Clock& clock_;
  FileDescriptor end_of_holder_;
  std::vector<Devices> devices_;
  std::map<std::string, Retry> retries_;
  std::optional<Instant> over_since_;
  bool closed_ = false;
  bool gone_ = false;
  SideBySide workers_;  // ends first
};

}  // namespace

bool stand_guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock) {
  return Guard{duty, backends, clock}.stand();
}

}  // namespace zeus::control
