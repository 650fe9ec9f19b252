// The settings of one GPU, asked for on a thread of its own that waits for the setter (setter/link/seat.hpp). The
// LeaseDesk decides whose a lease is and how long it lasts.
//
// Threads: the loop's; results come on the loop's thread. Ownership: the loop outlives this object.
#pragma once

#include "daemon/client.hpp"
#include "daemon/device_thread.hpp"
#include "daemon/setting.hpp"
#include "setter/link/seat.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace zeus::daemon {

class GpuSeat {
 public:
  using Number = setter::LeaseNumber;
  using Taken = setter::Taken;
  using End = DeviceThread::End;
  using Wanted = std::function<bool()>;

  // `bounds` are those of a driver's call; what takes longer by nature is added.
  GpuSeat(Loop& loop, GpuAsked name, std::shared_ptr<setter::Seat> seat, DeviceThread::Bounds bounds);

  [[nodiscard]] const GpuAsked& name() const { return name_; }
  [[nodiscard]] DeviceThread& thread() { return thread_; }
  // How often the driver's setters were called.
  [[nodiscard]] std::uint64_t calls() const { return seat_->calls(); }

  // Each `done` is called once; if the end is `done`, with the result.

  void take(Number lease, Seconds term, const Client& client, Wanted wanted, std::function<void(End, Taken)> done);
  // If the call was late, its result goes to `settled` when it is over.
  void set(Number lease, const Setting& setting, Wanted wanted, std::function<void(End, SettingResult)> done,
           std::function<void(SettingResult)> settled);
  void renew(Number lease, std::function<void(End, std::optional<Error>)> done);
  // Puts back what was set through the lease.
  void restore(Number lease, Wanted wanted, std::function<void(End, std::optional<Error>)> done);
  // Ends the lease, if it was taken at all. This is always done, though not at once if the device hangs. `why` is for
  // the audit log.
  void release(Number lease, const std::string& why, std::function<void(std::optional<Error>)> done);
  // Puts back what a dead holder has left on this GPU; reports what prevents that.
  void put_back_what_was_left(std::function<void(std::optional<std::string>)> done);
  // Reports whether another program has changed what was set through the lease, and how; empty otherwise.
  void ask_whether_overruled(Number lease, Wanted wanted, std::function<void(End, std::string)> done);

 private:
  template <typename Result>
  struct Question {
    std::function<Result(setter::Seat&)> work;
    Wanted wanted;
    std::function<void(End, Result)> done;
    std::function<void(Result)> settled;  // called after `late`
    bool is_owed = false;
  };
  template <typename Result>
  void ask(Question<Result> question);

  GpuAsked name_;
  std::shared_ptr<setter::Seat> seat_;  // used on the thread, but for what any thread may call
  DeviceThread thread_;
};

// "GPU 3", for messages.
std::string gpu_name(const GpuSeat& seat);

}  // namespace zeus::daemon
