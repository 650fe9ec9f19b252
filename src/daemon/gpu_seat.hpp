// The settings of one GPU: the only thread that changes them, and the leases through which it does. Here a lease is
// only a number; the LeaseDesk decides whose it is and how long it lasts.
//
// Threads: the loop's; results come on the loop's thread. Ownership: the loop, the book, the ledger and the gate
// outlive this object.
#pragma once

#include "control/lease_book.hpp"
#include "control/lease_client.hpp"
#include "daemon/audited_control.hpp"
#include "daemon/client.hpp"
#include "daemon/device_thread.hpp"
#include "daemon/driver_gate.hpp"
#include "daemon/setting.hpp"
#include "device/backend.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace zeus::daemon {

class GpuSeat {
 public:
  using Number = std::uint64_t;
  using End = DeviceThread::End;
  using Wanted = std::function<bool()>;

  struct Parts {
    device::DiscoveredGpu gpu;  // its control is `audited`
    std::shared_ptr<AuditedControl> audited;
    std::shared_ptr<DriverGate> gate;
  };

  GpuSeat(Loop& loop, control::LeaseBook& book, const control::Ledger& ledger, Parts parts,
          DeviceThread::Bounds bounds);

  [[nodiscard]] const GpuAsked& name() const { return name_; }
  [[nodiscard]] const device::DiscoveredGpu& gpu() const { return on_thread_->parts.gpu; }
  [[nodiscard]] DeviceThread& thread() { return thread_; }

  // Each `done` is called once; if the end is `done`, with the result.

  struct Taken {
    control::LeaseClient client;  // with what was found out about the process
    Reading<Watts> found;         // the power limit before the lease
    std::optional<Error> error;
  };
  void take(Number lease, Seconds term, const Client& client, Wanted wanted, std::function<void(End, Taken)> done);
  // If the call was late, its result goes to `settled` when it is over.
  void set(Number lease, const Setting& setting, const std::string& who, Wanted wanted,
           std::function<void(End, SettingResult)> done, std::function<void(SettingResult)> settled);
  void renew(Number lease, std::function<void(End, std::optional<Error>)> done);
  // Puts back what was set through the lease.
  void restore(Number lease, const std::string& who, Wanted wanted,
               std::function<void(End, std::optional<Error>)> done);
  // Ends the lease, if it was taken at all. This is always done, though not at once if the device hangs. `why` is for
  // the audit log.
  void release(Number lease, const std::string& why, std::function<void(std::optional<Error>)> done);
  // Puts back what a dead holder has left on this GPU; reports what prevents that.
  void put_back_what_was_left(std::function<void(std::optional<std::string>)> done);
  // Reports whether another program has changed what was set through the lease, and how; empty otherwise.
  void ask_whether_overruled(Number lease, Wanted wanted, std::function<void(End, std::string)> done);

 private:
  // The state used on the device's thread, which owns it during a call.
  struct OnThread {
    Parts parts;
    control::LeaseBook& book;
    const control::Ledger& ledger;
    Clock& clock;
    std::map<Number, control::Lease> leases;

    control::Lease& lease(Number number);
    // Reports and logs the settings of leases granted here that another process, usually a guardian, has put back.
    [[nodiscard]] std::string holder() const;
    void tell_what_was_put_back();
  };

  template <typename Result>
  struct Question {
    std::function<void(OnThread&, Result&)> work;
    Wanted wanted;
    std::function<void(End, Result)> done;
    std::function<void(Result)> settled;  // called after `late`
    bool is_owed = false;
  };
  template <typename Result>
  void ask(Question<Result> question);

  GpuAsked name_;
  std::shared_ptr<OnThread> on_thread_;
  DeviceThread thread_;
};

// "GPU 3", for messages.
std::string gpu_name(const GpuSeat& seat);

}  // namespace zeus::daemon
