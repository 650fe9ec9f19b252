// Whoever holds leases of GPUs for other processes, as a daemon does that may set what they may not. A LeaseBook that
// has one takes leases of the GPUs that it offers from it: this process then keeps no record of them and needs no
// guardian, which are the lessor's.
//
// It gives shares, as a book does (lease.hpp): each take() is a lease of its own, and it knows that those of one
// process belong together. The latest setting of a kind holds, the end of a share brings back the latest of the others,
// and whoever is overruled can ask. In this process nothing is kept of that.
//
// Threads: any. Ownership: a book shares it with whoever made it; leases outlive it. Fork: the child's copy is called
// as well. The child is another process to the lessor: it must not speak for its parent, as over a connection that it
// has inherited.
#pragma once

#include "control/lease_backing.hpp"
#include "control/lease_client.hpp"
#include "device/backend.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::control {

// How it stands with a lessor, for a person.
struct LessorReport {
  std::string name;                     // "zeusd at /run/zeusd/zeusd.sock"
  std::vector<std::string> works;       // what this user may do through it, a line each
  std::vector<DeviceProblem> problems;  // what not, and what to do
};

// Whether processes that descend from this one may set what it has a lease of.
enum class Lends { nothing, to_descendants };

class Lessor {
 public:
  Lessor() = default;
  Lessor(const Lessor&) = delete;
  Lessor& operator=(const Lessor&) = delete;
  virtual ~Lessor() = default;

  // Whether leases of the GPU with this UUID are to be taken from it. Quick: from what it knows.
  [[nodiscard]] virtual bool offers(std::string_view uuid) const = 0;

  // A share of this process's lease of `gpu`, which it offers, for `term` unless renewed; where a process has it that
  // this one descends from, and that lends, it is borrowed. Readings of the lease are of `gpu`, whose `control` may be
  // null. Errors as LeaseBook::acquire(): conflict names the holder, permission_denied and unavailable say what to do.
  // After any of them nothing has been changed.
  [[nodiscard]] virtual std::unique_ptr<LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term,
                                                           Lends lends) = 0;

  // Whether this process has one already.
  [[nodiscard]] virtual bool has_one(std::string_view uuid) = 0;

  // For whom each of its GPUs is leased now, by UUID; none where it cannot be asked.
  [[nodiscard]] virtual std::map<std::string, LeaseClient, std::less<>> clients() { return {}; }
  // Asks it what this user may do, by taking a lease of each GPU that is free, under which nothing is set.
  [[nodiscard]] virtual LessorReport report() { return {}; }
};

}  // namespace zeus::control
