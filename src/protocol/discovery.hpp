// What zeusd reports of itself, its devices and its client: GET /discover, /time and /auth/whoami. Records, written by
// records::json_line() and read by read_answer(). Plain values; any thread.
#pragma once

#include "device/watt_range.hpp"

#include <zeus/device_values.hpp>
#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::protocol {

// For fields that the existing daemon does not have, or that its first releases did not have.
inline constexpr field::Rule may_lack{.left_out = true};

struct ListedGpu {
  std::uint32_t id = 0;
  std::optional<std::string> name;
  std::optional<std::string> pci_address;  // "0000:1b:00.0"
  std::optional<bool> cumulative_energy_available;
  std::optional<std::string> uuid;    // this and the rest are ours alone
  std::optional<std::string> vendor;  // as in vendor_word()
  std::optional<std::string> driver;  // its version
  // The power limits that the node's policy allows this client; left out if only the GPU's own range bounds them, or if
  // the client may not set any.
  std::optional<std::vector<device::WattRange>> allowed_power_limits;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("name", self.name, may_lack);
    fields("pci_address", self.pci_address, may_lack);
    fields("cumulative_energy_available", self.cumulative_energy_available, may_lack);
    fields("uuid", self.uuid, may_lack);
    fields("vendor", self.vendor, may_lack);
    fields("driver", self.driver, may_lack);
    fields("allowed_power_limits", self.allowed_power_limits, may_lack);
  }
  friend bool operator==(const ListedGpu&, const ListedGpu&) = default;
};

// "nvidia", "amd"
std::string_view vendor_word(GpuVendor vendor);
// Empty for an unknown vendor.
std::optional<GpuVendor> vendor_of(std::string_view word);

struct ListedCpu {
  std::uint32_t id = 0;
  bool dram_available = false;
  std::optional<std::string> name;  // ours alone: "package-0"

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("dram_available", self.dram_available);
    fields("name", self.name, may_lack);
  }
  friend bool operator==(const ListedCpu&, const ListedCpu&) = default;
};

// Clients recognize our zeusd by this.
struct DaemonIdentity {
  std::string version;    // "0.1.0"
  std::uint32_t api = 1;  // the version of /v1
  std::string instance;   // another one at each start of a daemon

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("version", self.version);
    fields("api", self.api);
    fields("instance", self.instance);
  }
  friend bool operator==(const DaemonIdentity&, const DaemonIdentity&) = default;
};

struct DiscoveryAnswer {
  std::vector<ListedGpu> gpus;
  std::vector<ListedCpu> cpus;
  std::optional<std::vector<std::string>> enabled_api_groups;
  std::optional<bool> auth_required;
  std::optional<DaemonIdentity> zeusd;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpus", self.gpus);
    fields("cpus", self.cpus);
    fields("enabled_api_groups", self.enabled_api_groups, may_lack);
    fields("auth_required", self.auth_required, may_lack);
    fields("zeusd", self.zeusd, may_lack);
  }
  friend bool operator==(const DiscoveryAnswer&, const DiscoveryAnswer&) = default;
};

struct TimeAnswer {
  std::uint64_t timestamp_ms = 0;  // the daemon's wall clock, since 1970

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("timestamp_ms", self.timestamp_ms);
  }
  friend bool operator==(const TimeAnswer&, const TimeAnswer&) = default;
};

struct WhoAmIAnswer {
  std::string sub;
  std::vector<std::string> scopes;
  std::optional<std::int64_t> exp;  // seconds since 1970; empty if the token never expires

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("sub", self.sub);
    fields("scopes", self.scopes);
    fields("exp", self.exp, may_lack);
  }
  friend bool operator==(const WhoAmIAnswer&, const WhoAmIAnswer&) = default;
};

}  // namespace zeus::protocol
