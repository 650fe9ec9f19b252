// The RAPL zones of the kernel's powercap tree, recognised by their names and never by their position: a "psys" zone
// may come before a package, and the same package may appear twice (intel-rapl and intel-rapl-mmio). Pure apart from
// reading files; nothing here keeps state.
#pragma once

#include "base/file_tree.hpp"

#include <zeus/device_values.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::backends::rapl {

// One counter's file, and the value at which the counter starts again at zero.
struct Zone {
  std::string path;  // of its folder, below the tree's root
  std::optional<std::uint64_t> range_microjoules;
};

struct PackageZones {
  std::string name;  // "package-0", "package-1-die-0"
  int package = 0;
  int die = 0;
  int zone = 0;  // N of intel-rapl:N
  Zone energy;
  std::optional<Zone> dram;
};

struct ZoneScan {
  std::vector<PackageZones> packages;  // in the order of package and die
  std::vector<DeviceProblem> problems;
};

// The tree's zones. If a package has several, the first whose counter can be read is used, MSR before MMIO.
ZoneScan scan_zones(const FileTree& tree);

struct PackageName {
  int package = 0;
  int die = 0;
};

// "package-0", "package-1-die-0"; nothing for psys, core, uncore, dram and any other name.
std::optional<PackageName> parse_package_name(std::string_view name);

}  // namespace zeus::backends::rapl
