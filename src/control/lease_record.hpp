// What is written down before a device is changed: the holder, the expiry, and what was found. One record is one lease
// of one GPU, with what its holder has lent of it. Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"
#include "base/holder.hpp"
#include "control/lease_client.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/device_values.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::control {

struct FoundClocks {
  // Few drivers report the range that clocks are locked to. Clocks of unknown state are put back to unlocked.
  bool known = false;
  std::optional<ClockRange> locked_to;  // nothing if they were not locked

  // "unknown", "unlocked" or a range.
  friend void write_json(records::JsonWriter& json, const FoundClocks& clocks);
  friend void read_json(const records::JsonValue& json, const records::JsonPlace& place, FoundClocks& clocks);
  friend bool operator==(const FoundClocks&, const FoundClocks&) = default;
};

// The values found, only of settings that the lease has changed or was about to change; all others are left alone.
struct Found {
  std::optional<Watts> power_limit;
  std::map<ClockDomain, FoundClocks> clocks;
  std::optional<bool> persistence_mode;

  [[nodiscard]] bool empty() const { return !power_limit && clocks.empty() && !persistence_mode; }
  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("power_limit", self.power_limit, field::Rule{.least = 0.0, .above_least = true, .left_out = true});
    fields("clocks", self.clocks);
    fields("persistence_mode", self.persistence_mode, field::Rule{.left_out = true});
  }
  friend bool operator==(const Found&, const Found&) = default;
};

// "power limit 300 W, graphics clocks unlocked, persistence mode off"; "nothing" if empty.
std::string to_text(const Found& found);

// One process's right to set the GPU, and what that process has found.
struct Claim {
  std::int64_t lease = 0;  // a number that no other claim to this GPU has in this boot
  Instant expires;         // unless renewed
  Holder holder;
  Found found;
  std::optional<LeaseClient> client = std::nullopt;  // the client, if that is not the holder itself
  // The clocks that it has set, if others may borrow: they put these back, and few drivers report them.
  std::optional<std::map<ClockDomain, FoundClocks>> clocks = std::nullopt;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("lease", self.lease, field::from_zero);
    fields("expires_monotonic_ns", self.expires.nanoseconds, field::from_zero);
    fields("holder", self.holder);
    fields("client", self.client, field::Rule{.left_out = true});
    fields("found", self.found);
    fields("clocks", self.clocks, field::Rule{.left_out = true});
  }
  friend bool operator==(const Claim&, const Claim&) = default;
};

// The owner: "process 12 (zeus_setter) for user 1000's process 77 (python3)", "process 12 (python3)".
std::string to_text(const Claim& claim);

// What a holder lends to processes that descend from it, one at a time.
struct Lending {
  std::int64_t changes = 0;    // how often a borrower has begun to change the power limit or clocks
  std::optional<Claim> child;  // its `found` is what its parent had set

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("changes", self.changes, field::from_zero);
    fields("child", self.child, field::Rule{.left_out = true});
  }
  friend bool operator==(const Lending&, const Lending&) = default;
};

// The claim of the holder itself, and what it has lent.
struct LeaseRecord : Claim {
  std::string gpu;                                // UUID
  std::string gpu_name;                           // the GPU's name in messages: "GPU 0 (Tesla V100-SXM2-32GB)"
  std::string boot;                               // the boot of the machine that it belongs to
  std::optional<Lending> lending = std::nullopt;  // nothing if the holder does not lend

  [[nodiscard]] const Claim* child() const { return lending && lending->child ? &*lending->child : nullptr; }
  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1);
    fields("gpu", self.gpu);
    fields("gpu_name", self.gpu_name);
    fields("boot", self.boot);
    Claim::describe(fields, self);
    fields("lending", self.lending, field::Rule{.left_out = true});
  }
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// The file's format; its golden file is tests/golden/control/lease_record.json.
std::string to_json(const LeaseRecord& record);
// Reads that format back. Anything else (cut short, another version, a wrong type, a limit that is not a number) is a
// corrupt_data Error: what was found is never guessed.
LeaseRecord lease_record_from_json(std::string_view text);

}  // namespace zeus::control
