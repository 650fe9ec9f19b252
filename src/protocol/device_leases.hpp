// Leases of a daemon's GPUs and what was set under them, in our own answers (/v1/leases, /v1/outcomes). Written by
// records::json_line() and read by read_answer(). Plain values; any thread.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::protocol {

struct LockedClocks {
  ClockDomain domain = ClockDomain::graphics;
  ClockRange range = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("domain", self.domain);
    fields("range", self.range, field::beside);
  }
  friend bool operator==(const LockedClocks&, const LockedClocks&) = default;
};

// Some settings of a GPU; those that are not meant are left out. A domain without a range among `clocks` is unlocked.
struct GpuSettings {
  std::optional<Watts> power_limit = std::nullopt;
  std::optional<std::vector<LockedClocks>> clocks = std::nullopt;
  std::optional<bool> persistence_mode = std::nullopt;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("power_limit", self.power_limit, field::Rule{.least = 0.0, .left_out = true});
    fields("clocks", self.clocks, field::Rule{.left_out = true});
    fields("persistence_mode", self.persistence_mode, field::Rule{.left_out = true});
  }
  friend bool operator==(const GpuSettings&, const GpuSettings&) = default;
};

// What is known of a lease's holder.
struct LeaseHolder {
  std::optional<std::uint32_t> uid = std::nullopt;
  std::optional<std::string> user = std::nullopt;  // its name
  std::optional<std::int64_t> pid = std::nullopt;
  std::optional<std::string> command = std::nullopt;
  std::optional<std::string> cgroup = std::nullopt;
  std::optional<std::string> token = std::nullopt;  // the token's subject

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule known{.left_out = true};
    fields("uid", self.uid, known);
    fields("user", self.user, known);
    fields("pid", self.pid, known);
    fields("command", self.command, known);
    fields("cgroup", self.cgroup, known);
    fields("token", self.token, known);
  }
  friend bool operator==(const LeaseHolder&, const LeaseHolder&) = default;
};

// "process 1234 (python3) of user ann", "the token of ann"
std::string to_text(const LeaseHolder& holder);

struct LeasedGpu {
  std::uint32_t id = 0;
  std::string uuid = {};
  GpuSettings asked = {};     // through this lease
  GpuSettings in_force = {};  // as last read back; before the first setting, as found

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("uuid", self.uuid);
    fields("asked", self.asked);
    fields("in_force", self.in_force);
  }
  friend bool operator==(const LeasedGpu&, const LeasedGpu&) = default;
};

// The answer to taking and renewing a lease.
struct LeaseAnswer {
  std::string id = {};
  std::vector<LeasedGpu> gpus = {};
  Seconds term = {};                              // what each renewal adds
  Seconds expires_in = {};                        // unless it is renewed
  std::optional<Seconds> longest = std::nullopt;  // the lease ends after this time even if it is renewed

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("gpus", self.gpus);
    fields("term", self.term, field::from_zero);
    fields("expires_in", self.expires_in, field::from_zero);
    fields("longest", self.longest, field::from_zero);
  }
  friend bool operator==(const LeaseAnswer&, const LeaseAnswer&) = default;
};

enum class LeaseKind {
  explicit_lease,  // a client asked for it
  implicit,        // of a client that has set something without a lease
};

constexpr auto names_of(LeaseKind /*kind*/) {
  return std::array<field::Name<LeaseKind>, 2>{
      {{LeaseKind::explicit_lease, "explicit"}, {LeaseKind::implicit, "implicit"}}};
}

struct ListedLease {
  std::string id = {};
  LeaseKind kind = LeaseKind::explicit_lease;
  LeaseHolder holder = {};
  std::vector<LeasedGpu> gpus = {};
  std::uint64_t since_ms = 0;  // wall clock, since 1970
  Seconds held = {};
  std::optional<Seconds> term = std::nullopt;  // empty if it needs no renewal
  std::optional<Seconds> expires_in = std::nullopt;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("kind", self.kind);
    fields("holder", self.holder);
    fields("gpus", self.gpus);
    fields("since_ms", self.since_ms);
    fields("held", self.held, field::from_zero);
    fields("term", self.term, field::from_zero);
    fields("expires_in", self.expires_in, field::from_zero);
  }
  friend bool operator==(const ListedLease&, const ListedLease&) = default;
};

struct LeaseList {
  std::vector<ListedLease> leases = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("leases", self.leases);
  }
  friend bool operator==(const LeaseList&, const LeaseList&) = default;
};

// The body of a 409: another client holds the GPU.
struct Conflict {
  std::string error = {};
  std::optional<std::uint32_t> gpu_id = std::nullopt;
  LeaseHolder holder = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("error", self.error);
    fields("gpu_id", self.gpu_id);
    fields("holder", self.holder);
  }
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

// Whether another program has changed what was set under a lease, and how; empty if none has.
struct Overruled {
  std::string why = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("why", self.why);
  }
  friend bool operator==(const Overruled&, const Overruled&) = default;
};

// The result of setting one GPU, even if no client waited for it.
struct SettingOutcome {
  std::uint64_t number = 0;  // ascending, within one instance of the daemon
  std::uint32_t gpu_id = 0;
  std::string request = {};                             // the name of the route: "set_power_limit"
  std::optional<std::string> lease = std::nullopt;      // its ID
  GpuSettings asked = {};                               // empty if something was reset
  std::optional<GpuSettings> enforced = std::nullopt;   // as read back
  std::optional<std::string> error = std::nullopt;      // why it was not set
  std::optional<std::uint16_t> status = std::nullopt;   // that a waiting request got, or would have got
  std::optional<std::uint64_t> when_ms = std::nullopt;  // wall clock, since 1970; empty until it is done

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("number", self.number);
    fields("gpu_id", self.gpu_id);
    fields("request", self.request);
    fields("lease", self.lease);
    fields("asked", self.asked);
    fields("enforced", self.enforced);
    fields("error", self.error);
    fields("status", self.status);
    fields("when_ms", self.when_ms);
  }
  friend bool operator==(const SettingOutcome&, const SettingOutcome&) = default;
};

struct Outcomes {
  std::vector<SettingOutcome> outcomes = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("outcomes", self.outcomes);
  }
  friend bool operator==(const Outcomes&, const Outcomes&) = default;
};

}  // namespace zeus::protocol
