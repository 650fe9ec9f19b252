#include "control/guard_duty.hpp"

#include "control/restoration.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

namespace zeus::control {

namespace {

// Where the kernel cannot wake us at the holder's end, we look this often.
constexpr Seconds look_every = 250_ms;
constexpr Seconds first_retry = 100_ms;
constexpr Seconds longest_retry = 5_s;
constexpr Seconds give_up_after = 60_s;

class Guard {
 public:
  Guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock)
      : duty_{duty}, backends_{backends}, clock_{clock} {
#ifdef SYS_pidfd_open
    end_of_holder_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, duty.holder, 0))};
#endif
    // Looked at after it was opened, so that a number used again is not mistaken for the holder.
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
        if (clock_.now() - *over_since_ > give_up_after) {
          return false;
        }
      }
      retry_ = all_put_back ? std::nullopt : std::optional{std::min(retry_ ? *retry_ * 2 : first_retry, longest_retry)};
      wait();
    }
  }

 private:
  // The holder will change nothing more: it has ended, or let go of us and of all leases.
  [[nodiscard]] bool over() const { return gone_ || (closed_ && !has_held_leases()); }

  // What cannot be found out now is asked again: a guardian that gives up leaves GPUs changed.
  [[nodiscard]] bool holder_lives() const {
    try {
      const std::optional<Holder> holder = find_holder(duty_.ledger.machine(), duty_.holder);
      return holder && (duty_.started == 0 || holder->started == duty_.started);
    } catch (const Error&) {
      return true;
    }
  }

  void say_ready() const {
    const std::string line = std::string{guard_is_ready} + '\n';
    static_cast<void>(::send(duty_.connection.get(), line.data(), line.size(), MSG_NOSIGNAL));
  }

  // Records name GPUs by their UUIDs: what variables hide is put back as well.
  void look_for_devices() { inventory_ = device::take_inventory(backends_, Environment{}); }

  // False when something of our holder could not be put back. Then the devices are looked for anew: a driver may have
  // been loaded again since they were opened.
  bool attempt() {
    const bool done = try_all();
    if (!done && retry_) {
      inventory_ = {};
      look_for_devices();
    }
    return done;
  }

  bool try_all() {
    try {
      static_cast<void>(restore_abandoned(duty_.ledger, inventory_.gpus, clock_));
      return std::ranges::all_of(ours(), [&](const Ours& one) { return standing(one) == Standing::held; });
    } catch (const Error&) {
      return false;
    }
  }

  // A lease that our holder has, or has borrowed from.
  struct Ours {
    LeaseRecord record;
    bool borrowed = false;
    Instant ends;  // unless renewed
  };

  [[nodiscard]] bool is_ours(const Claim& claim) const {
    return claim.holder.pid == duty_.holder && claim.holder.started == duty_.started;
  }

  // Those that are written down now. What cannot be read is nobody's.
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

  // Until the holder ends or says something, a lease runs out, or it is time to try again.
  void wait() {
    const Instant now = clock_.now();
    std::optional<Seconds> pause = retry_;
    const auto no_longer_than = [&](Seconds limit) { pause = pause ? std::min(*pause, limit) : limit; };
    for (const Ours& one : ours()) {
      if (now < one.ends) {
        no_longer_than(one.ends - now);
      }
    }
    if (!end_of_holder_ || closed_) {
      no_longer_than(look_every);
    }
    constexpr double longest_ms = 1e9;
    const int timeout = pause ? static_cast<int>(std::min(std::ceil(Milliseconds{*pause}.value()), longest_ms)) : -1;
    // What has ended stays readable, and would not let us wait.
    std::array<pollfd, 2> asked{pollfd{closed_ ? -1 : duty_.connection.get(), POLLIN, 0},
                                pollfd{gone_ ? -1 : end_of_holder_.get(), POLLIN, 0}};
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
  std::span<device::Backend* const> backends_;
  Clock& clock_;
  FileDescriptor end_of_holder_;
  device::Inventory inventory_;
  std::optional<Seconds> retry_;
  std::optional<Instant> over_since_;
  bool closed_ = false;
  bool gone_ = false;
};

}  // namespace

bool stand_guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock) {
  return Guard{duty, backends, clock}.stand();
}

}  // namespace zeus::control
