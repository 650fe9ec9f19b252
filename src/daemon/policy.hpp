// Who may do what on which GPU, within which bounds: the parsed policy file, and the one function that decides by it.
// Rules only allow: what no rule allows is refused, and the bounds of a rule apply to what that rule allows. Plain
// values and pure functions; any thread.
//
//   implicit = "process"                       # for setters without a lease: "process", "keep" or "refuse"
//   [waiting]                                  # a client may wait for another's lease to end
//   longest_s = 600
//   most = 32
//   [[rule]]
//   who = ["group:zeus", "user:ann", "token:ci-*", "everyone"]
//   gpus = ["all"]                             # numbers and UUIDs too
//   may = ["read", "read_cpu", "set_power_limit", "lock_clocks", "set_persistence"]
//   power_limit = {minimum_w = 100, maximum_w = 250}
//   longest_lease_s = 86400
//   changes_per_second = 5
#pragma once

#include "device/watt_range.hpp"
#include "toml/toml_reader.hpp"

#include <zeus/device_values.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::daemon {

enum class Action { read, read_cpu, set_power_limit, lock_clocks, set_persistence };

constexpr auto names_of(Action /*action*/) {
  return std::array<field::Name<Action>, 5>{{{Action::read, "read"},
                                             {Action::read_cpu, "read_cpu"},
                                             {Action::set_power_limit, "set_power_limit"},
                                             {Action::lock_clocks, "lock_clocks"},
                                             {Action::set_persistence, "set_persistence"}}};
}

// The actions that take a lease.
inline constexpr std::array control_actions{Action::set_power_limit, Action::lock_clocks, Action::set_persistence};

// What happens to a setter without a lease, from a program that does not use leases: the setting ends with the process
// that asked, stays until another client sets the GPU or the daemon stops, or is refused.
enum class ImplicitLease { process, keep, refuse };

constexpr auto names_of(ImplicitLease /*lease*/) {
  return std::array<field::Name<ImplicitLease>, 3>{
      {{ImplicitLease::process, "process"}, {ImplicitLease::keep, "keep"}, {ImplicitLease::refuse, "refuse"}}};
}

// One of the parties that a rule names.
struct Principal {
  enum class Kind { everyone, user, group, token };

  Kind kind = Kind::everyone;
  std::string name;                                // as written; a token's subject may end in '*'
  std::optional<std::uint32_t> id = std::nullopt;  // of a user or group, once known
  std::string place;                               // "policy.toml:4:8"
};

void read_toml(const toml::TomlSpot& spot, Principal& principal);

// "all", a number, or a UUID.
struct PolicyGpu {
  std::string name;
};

void read_toml(const toml::TomlSpot& spot, PolicyGpu& gpu);

struct Rule {
  std::vector<Principal> who;
  std::vector<PolicyGpu> gpus;
  std::vector<Action> may;
  std::optional<device::WattRange> power_limit;
  std::optional<ClockRange> graphics_clocks;
  std::optional<ClockRange> memory_clocks;
  std::optional<Seconds> longest_lease;
  std::optional<double> changes_per_second;
  std::string place;  // "policy.toml:12:1", or "the built-in rule"

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("who", self.who);
    fields("gpus", self.gpus);
    fields("may", self.may);
    fields("power_limit", self.power_limit);
    fields("graphics_clocks", self.graphics_clocks);
    fields("memory_clocks", self.memory_clocks);
    fields("longest_lease", self.longest_lease, field::above_zero);
    fields("changes_per_second", self.changes_per_second, field::above_zero);
  }
};

void read_toml(const toml::TomlSpot& spot, Rule& rule);

struct Waiting {
  std::optional<Seconds> longest;
  std::optional<int> most;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("longest", self.longest, field::from_zero);
    fields("most", self.most, field::Rule{.least = 0, .most = 1024});
  }
};

// The content of one file.
struct PolicyFile {
  std::optional<ImplicitLease> implicit;
  std::optional<Waiting> waiting;
  std::optional<std::vector<Rule>> rule;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("implicit", self.implicit);
    fields("waiting", self.waiting);
    fields("rule", self.rule);
  }
};

struct Policy {
  ImplicitLease implicit = ImplicitLease::process;
  Seconds longest_wait{600};
  std::size_t most_waiting = 32;
  std::vector<Rule> rules;
};

// Used if no policy is written: any client that may open the socket may read, and set within the GPU's own range.
Policy built_in_policy();

// The ID of a user or group of this name; empty if there is none.
struct NameLookup {
  std::function<std::optional<std::uint32_t>(const std::string&)> user;
  std::function<std::optional<std::uint32_t>(const std::string&)> group;
};

struct PolicyText {
  std::string file;  // its name in Errors
  std::string text;
};

// The policy that these files make together: the first one has the general settings, the others may only add rules.
// Throws an invalid_argument Error for anything unknown, even a name, with file, line and column, and the most likely
// correction.
Policy policy_from(std::span<const PolicyText> files, const NameLookup& names);

// The client, as far as rules distinguish clients.
struct Asker {
  std::optional<uid_t> user;
  std::vector<gid_t> groups;  // every group
  std::optional<std::string> token;
};

struct GpuAsked {
  int number = 0;
  std::string uuid;
};

// The request. For a CPU package there is no GPU. Bounds are checked if they are given.
struct AskedFor {
  Action action = Action::read;
  std::optional<GpuAsked> gpu = std::nullopt;
  std::optional<Watts> power_limit = std::nullopt;
  std::optional<ClockDomain> domain = std::nullopt;
  std::optional<ClockRange> clocks = std::nullopt;
};

struct Verdict {
  bool allowed = false;
  std::string why;  // for the client: the rule that allows it, or the reason against it
  // The largest bound of all rules that allow it; empty if one of them sets none.
  std::optional<Seconds> longest_lease = std::nullopt;
  std::optional<double> changes_per_second = std::nullopt;
};

Verdict decide(const Policy& policy, const Asker& asker, const AskedFor& asked);

// The bounds that the rules about this action set, one string for each rule: "100 to 250 W". Empty if one of the rules
// sets no bounds.
std::vector<std::string> bounds_of(const Policy& policy, const Asker& asker, const AskedFor& asked);

// The power limits that the rules allow on a GPU, one range for each rule. Empty if one of the rules sets no bounds, or
// if none allows any.
std::vector<device::WattRange> allowed_power_limits(const Policy& policy, const Asker& asker, const GpuAsked& gpu);

}  // namespace zeus::daemon
