// Whatever the files of a powercap tree contain, scanning it throws nothing, and no counter reads beyond its range.

#include "backends/rapl/rapl_backend.hpp"
#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

void write_zone_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary} << content;
}

void check_reading(const zeus::device::CpuPackage& cpu, zeus::device::CpuDomain domain) {
  const auto reading = cpu.energy(domain);
  if (!reading) {
    return;
  }
  const auto counter = cpu.energy_counter(domain);
  if (!counter || !counter->wraps_at || reading->value < zeus::Joules{0} || reading->value > *counter->wraps_at) {
    std::abort();
  }
}

}  // namespace

extern "C" int fuzz_rapl_zones(const std::uint8_t* data, std::size_t size) {
  static const zeus::test::TemporaryFolder folder;
  static const zeus::SystemClock clock;
  // The parts of the input, line by line, become the files of two zones.
  std::string rest{reinterpret_cast<const char*>(data), size};
  const std::filesystem::path zone = folder.path() / "sys/class/powercap/intel-rapl:0";
  for (const char* file :
       {"name", "energy_uj", "max_energy_range_uj", "intel-rapl:0:0/energy_uj", "intel-rapl:0:0/name"}) {
    const std::size_t end = rest.find('\n');
    write_zone_file(zone / file, rest.substr(0, end));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  write_zone_file(zone / "intel-rapl:0:0/max_energy_range_uj", rest);
  const zeus::device::Discovery found =
      zeus::backends::rapl::RaplBackend{zeus::FileTree{folder.path()}, clock}.discover();
  for (const auto& cpu : found.cpus) {
    check_reading(*cpu, zeus::device::CpuDomain::package);
    check_reading(*cpu, zeus::device::CpuDomain::dram);
  }
  return 0;
}
