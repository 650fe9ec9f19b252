// What is written down before a device is changed: who changes it, until when, and what was found. One record is one
// lease of one GPU, with what its holder has lent of it. Plain values; copy them freely between threads.
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
  // Few drivers tell what they are locked to. What they do not tell is put back to unlocked.
  bool known = false;
  std::optional<ClockRange> locked_to;  // nothing when they were not locked

  // "unknown", "unlocked" or a range.
  friend void write_json(records::JsonWriter& json, const FoundClocks& clocks);
  friend void read_json(const records::JsonValue& json, const records::JsonPlace& place, FoundClocks& clocks);
  friend bool operator==(const FoundClocks&, const FoundClocks&) = default;
};

// What was found, of what the lease has changed or was about to change; all else is left out, and left alone.
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

// "power limit 300 W, graphics clocks unlocked, persistence mode off"; "nothing" when empty.
std::string to_text(const Found& found);

// What one process may do, and what it has found.
struct Claim {
  std::int64_t lease = 0;  // told from every other claim to this GPU in this boot by its number
  Instant expires;         // unless renewed
  Holder holder;
  Found found;
  std::optional<LeaseClient> client = std::nullopt;  // for whom, where that is not the holder itself

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("lease", self.lease, field::from_zero);
    fields("expires_monotonic_ns", self.expires.nanoseconds, field::from_zero);
    fields("holder", self.holder);
    fields("client", self.client, field::Rule{.left_out = true});
    fields("found", self.found);
  }
  friend bool operator==(const Claim&, const Claim&) = default;
};

// Who has it: "process 12 (zeusd) for user 1000's process 77 (python3)", "process 12 (python3)".
std::string to_text(const Claim& claim);

// What a holder lends to processes that descend from it, one at a time.
struct Lending {
  std::int64_t changes = 0;    // how often one of them has begun to change the power limit or clocks
  std::optional<Claim> child;  // what it found is what its parent had set

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
  std::string gpu_name;                           // "GPU 0 (Tesla V100-SXM2-32GB)", as messages name it
  std::string boot;                               // of which boot of the machine this speaks
  std::optional<Lending> lending = std::nullopt;  // nothing where the holder keeps it all to itself

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

// The form of the file, golden in tests/golden/control/lease_record.json.
std::string to_json(const LeaseRecord& record);
// Reads that form back. Anything else (cut short, another version, a wrong type, a limit that is no number) is a
// corrupt_data Error: what was found is never guessed.
LeaseRecord lease_record_from_json(std::string_view text);

}  // namespace zeus::control
