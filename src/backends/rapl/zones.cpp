#include "backends/rapl/zones.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

namespace zeus::backends::rapl {

namespace {

// The kernel's tree, and the place where a container may mount the host's (its own is masked by default).
constexpr std::array<std::string_view, 2> roots{"sys/class/powercap", "zeus_sys/class/powercap"};

constexpr int deepest = 4;  // control type, package, sub-zone, and one to spare

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number number{};
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && rest == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

struct FoundZone {
  std::string id;    // "intel-rapl:0:1"
  std::string name;  // "dram"
  Zone zone;
  bool readable = false;
};

// Collects zones by ID: the kernel shows each zone both at the top and below its parent.
class Scanner {
 public:
  Scanner(const FileTree& tree, ZoneScan& result) : tree_{tree}, result_{result} {}

  void scan(const std::string& folder, int depth) {
    for (const std::string& entry : list(folder)) {
      if (!entry.starts_with("intel-rapl")) {
        continue;
      }
      const std::string path = fmt::format("{}/{}", folder, entry);
      if (entry.find(':') != std::string::npos && !zones_.contains(entry)) {
        add(entry, path);
      }
      if (depth < deepest) {
        scan(path, depth + 1);
      }
    }
  }

  [[nodiscard]] const std::map<std::string, FoundZone>& zones() const { return zones_; }

 private:
  std::vector<std::string> list(const std::string& folder) {
    try {
      return tree_.list(folder);
    } catch (const Error& error) {
      // A plain file among the zones has no entries; all other problems are reported.
      if (error.kind() == ErrorKind::permission_denied) {
        result_.problems.push_back({folder, error.message(), error.advice()});
      }
      return {};
    }
  }

  void add(const std::string& id, const std::string& path) {
    try {
      const std::optional<std::string> name = tree_.read_line(path + "/name");
      if (!name) {
        return;  // not a zone, or one that has just vanished
      }
      FoundZone found{id, *name, {path, {}}, false};
      if (const std::optional<std::string> range = tree_.read_line(path + "/max_energy_range_uj")) {
        found.zone.range_microjoules = parse_whole<std::uint64_t>(*range);
      }
      found.readable = can_read(path);
      zones_.emplace(id, std::move(found));
    } catch (const Error& error) {
      result_.problems.push_back({id, error.message(), error.advice()});
    }
  }

  [[nodiscard]] bool can_read(const std::string& path) const {
    try {
      const std::optional<std::string> energy = tree_.read_line(path + "/energy_uj");
      return energy && parse_whole<std::uint64_t>(*energy);
    } catch (const Error&) {
      return false;  // reading the package returns the reason, and discovery reports it as a problem
    }
  }

  const FileTree& tree_;
  ZoneScan& result_;
  std::map<std::string, FoundZone> zones_;
};

// The ID of the zone above: "intel-rapl:0" for "intel-rapl:0:1".
std::string_view parent_zone(std::string_view id) {
  return id.substr(0, id.rfind(':'));
}

int number_of(std::string_view id) {
  return parse_whole<int>(id.substr(id.find(':') + 1)).value_or(0);
}

void keep_better(std::optional<FoundZone>& kept, const FoundZone& other) {
  if (!kept || (!kept->readable && other.readable)) {
    kept = other;
  }
}

struct Package {
  PackageName number;
  std::optional<FoundZone> energy;
  std::optional<FoundZone> dram;
};

// MSR first, which is the better counter, although "intel-rapl:0" sorts after "intel-rapl-mmio:0" as a string.
std::vector<FoundZone> msr_first(const std::map<std::string, FoundZone>& zones) {
  std::vector<FoundZone> ordered;
  for (const auto& [id, zone] : zones) {
    ordered.push_back(zone);
  }
  std::ranges::stable_sort(ordered, {}, [](const FoundZone& zone) { return !zone.id.starts_with("intel-rapl:"); });
  return ordered;
}

}  // namespace

std::optional<PackageName> parse_package_name(std::string_view name) {
  constexpr std::string_view beginning = "package-";
  constexpr std::string_view middle = "-die-";
  if (!name.starts_with(beginning)) {
    return std::nullopt;
  }
  name.remove_prefix(beginning.size());
  PackageName result;
  if (const std::size_t position = name.find(middle); position != std::string_view::npos) {
    const std::optional<unsigned short> die = parse_whole<unsigned short>(name.substr(position + middle.size()));
    if (!die) {
      return std::nullopt;
    }
    result.die = *die;
    name = name.substr(0, position);
  }
  const std::optional<unsigned short> package = parse_whole<unsigned short>(name);
  if (!package) {
    return std::nullopt;
  }
  result.package = *package;
  return result;
}

ZoneScan scan_zones(const FileTree& tree) {
  ZoneScan result;
  for (const std::string_view root : roots) {
    Scanner scanner{tree, result};
    scanner.scan(std::string{root}, 0);
    const std::vector<FoundZone> zones = msr_first(scanner.zones());
    std::map<std::string, Package> packages;
    for (const FoundZone& zone : zones) {
      if (const std::optional<PackageName> number = parse_package_name(zone.name)) {
        Package& package = packages[zone.name];
        package.number = *number;
        keep_better(package.energy, zone);
      }
    }
    for (const FoundZone& zone : zones) {
      const auto parent = scanner.zones().find(std::string{parent_zone(zone.id)});
      if (zone.name == "dram" && parent != scanner.zones().end() && packages.contains(parent->second.name)) {
        keep_better(packages[parent->second.name].dram, zone);
      }
    }
    for (auto& [name, package] : packages) {
      result.packages.push_back({name, package.number.package, package.number.die, number_of(package.energy->id),
                                 std::move(package.energy->zone),
                                 package.dram ? std::optional{std::move(package.dram->zone)} : std::nullopt});
    }
    if (!result.packages.empty()) {
      break;
    }
  }
  std::ranges::sort(result.packages, {}, [](const PackageZones& zones) {
    return std::tuple{zones.package, zones.die};
  });
  return result;
}

}  // namespace zeus::backends::rapl
