// A lessor holds leases of GPUs for other processes: a daemon that may set what they may not. A LeaseBook with a lessor
// takes leases of the GPUs that the lessor offers from it. For those, this process keeps no record and needs no
// guardian: the lessor has both.
//
// It gives shares, as a book does (lease.hpp): each take() is a lease of its own, and the lessor knows which belong to
// one process. The latest setting of a kind holds, the end of a share brings back the latest of the others, and an
// overruled share can ask for the reason. This process keeps none of that.
//
// Threads: any. Ownership: shared by a book and the code that made it; leases outlive it. Fork: the child's copy is
// called as well. To the lessor, the child is another process: it must not speak for its parent, say over an inherited
// connection.
#pragma once

#include "control/lease_backing.hpp"
#include "control/lease_client.hpp"
#include "device/backend.hpp"
#include "device/watt_range.hpp"

#include <zeus/device_values.hpp>
#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::control {

// The state of a lessor, for messages.
struct LessorReport {
  std::string name;                     // "zeusd at /run/zeusd/zeusd.sock"
  std::vector<std::string> works;       // what this user may do through it, one line each
  std::vector<DeviceProblem> problems;  // what this user may not do, and how to fix it
};

// The lessor does not answer. Leases of it may come back when it does; nothing that they had set is sure to hold.
class LessorAway : public Error {
 public:
  using Error::Error;
};

// How long a lease waits for its lessor: a user's own call as long as a driver may take, or until a lessor that
// restarts is back; a training for a moment.
enum class LessorPatience { usual, a_moment };

// Whether processes that descend from this one may set the GPUs that it has leased.
enum class Lends { nothing, to_descendants };

class Lessor {
 public:
  Lessor() = default;
  Lessor(const Lessor&) = delete;
  Lessor& operator=(const Lessor&) = delete;
  virtual ~Lessor() = default;

  // Whether to take leases of the GPU with this UUID from it. Fast: answers from what it knows.
  [[nodiscard]] virtual bool offers(std::string_view uuid) const = 0;

  // The power limits that this user may set on that GPU, as known. Empty if nothing but the GPU's own range bounds
  // them, or if this user may not set any.
  [[nodiscard]] virtual std::vector<device::WattRange> allowed_power_limits(std::string_view /*uuid*/) const {
    return {};
  }

  // A share of this process's lease of `gpu`, which it offers, for `term` unless renewed. If an ancestor of this
  // process has the lease and lends, it is borrowed. The lease reads `gpu`, whose `control` may be null. Errors as for
  // LeaseBook::acquire(): conflict names the holder; permission_denied and unavailable say what to do. After an Error
  // nothing has been changed.
  [[nodiscard]] virtual std::unique_ptr<LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term, Lends lends,
                                                           LessorPatience patience) = 0;

  // Whether this process has a lease of it.
  [[nodiscard]] virtual bool has_one(std::string_view uuid) = 0;

  // The client that each of its GPUs is leased for now, by UUID; none if it cannot be asked.
  [[nodiscard]] virtual std::map<std::string, LeaseClient, std::less<>> clients() { return {}; }
  // Finds out what this user may do, by taking a lease of each free GPU without setting anything.
  [[nodiscard]] virtual LessorReport report() { return {}; }
};

}  // namespace zeus::control
