// The settings of one GPU: the one thread that changes them, and the leases through which it does so. A lease is named
// by a number here; whose it is and how long it lasts is decided by the LeaseDesk.
//
// Threads: the loop's. Results come on the loop's thread. Ownership: the loop, the book, the ledger and the gate
// outlive this.
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

  // Each `done` is called once: with what came of it where the end is `done`.

  struct Taken {
    control::LeaseClient client;  // with what was found out about the process
    Reading<Watts> found;         // the power limit that was there
    std::optional<Error> error;
  };
  void take(Number lease, Seconds term, const Client& client, Wanted wanted, std::function<void(End, Taken)> done);
  // What came of it after all, where it was late, is told to `settled`.
  void set(Number lease, const Setting& setting, const std::string& who, Wanted wanted,
           std::function<void(End, SettingResult)> done, std::function<void(SettingResult)> settled);
  void renew(Number lease, std::function<void(End, std::optional<Error>)> done);
  // Withdraws what was set through it.
  void restore(Number lease, const std::string& who, Wanted wanted,
               std::function<void(End, std::optional<Error>)> done);
  // Ends it, if it was taken at all; this is always done, though not at once where the device hangs. `why` is for the
  // audit log.
  void release(Number lease, const std::string& why, std::function<void(std::optional<Error>)> done);
  // Puts back what a dead holder has left on this GPU; says what stands in the way.
  void put_back_what_was_left(std::function<void(std::optional<std::string>)> done);
  // Why what was set through it has not been left alone; empty otherwise.
  void ask_whether_overruled(Number lease, Wanted wanted, std::function<void(End, std::string)> done);

 private:
  // What works on the device's thread, which owns it for as long as a call is under way.
  struct OnThread {
    Parts parts;
    control::LeaseBook& book;
    const control::Ledger& ledger;
    Clock& clock;
    std::map<Number, control::Lease> leases;

    control::Lease& lease(Number number);
    // Says and writes down what others have put back of what was leased here, a guardian above all.
    void tell_what_was_put_back();
  };

  template <typename Result>
  struct Question {
    std::function<void(OnThread&, Result&)> work;
    Wanted wanted;
    std::function<void(End, Result)> done;
    std::function<void(Result)> settled;  // after it was late
    bool is_owed = false;
  };
  template <typename Result>
  void ask(Question<Result> question);

  GpuAsked name_;
  std::shared_ptr<OnThread> on_thread_;
  DeviceThread thread_;
};

}  // namespace zeus::daemon
