#include "backends/rapl/zones.hpp"

#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zeus::backends::rapl {
namespace {

class ZonesTest : public ::testing::Test {
 protected:
  void zone(const std::string& path, const std::string& name, const std::string& energy = "1000",
            const std::string& range = "262143328850") {
    const std::string folder = "sys/class/powercap/" + path;
    tree_.write_durably(folder + "/name", name + "\n");
    tree_.write_durably(folder + "/energy_uj", energy + "\n");
    tree_.write_durably(folder + "/max_energy_range_uj", range + "\n");
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const PackageZones& package : scan_zones(tree_).packages) {
      result.push_back(package.name + (package.dram ? "+dram" : ""));
    }
    return result;
  }

  test::TemporaryFolder folder_;
  FileTree tree_{folder_.path()};
};

using Names = std::vector<std::string>;

TEST_F(ZonesTest, AMachineWithoutRaplHasNoPackage) {
  EXPECT_EQ(names(), Names{});
  EXPECT_TRUE(scan_zones(tree_).problems.empty());
}

TEST_F(ZonesTest, PsysIsNeverAPackageWhereverItStands) {
  zone("intel-rapl/intel-rapl:0", "psys");
  zone("intel-rapl/intel-rapl:1", "package-0");
  zone("intel-rapl/intel-rapl:1/intel-rapl:1:0", "core");
  zone("intel-rapl/intel-rapl:1/intel-rapl:1:1", "uncore");
  zone("intel-rapl/intel-rapl:1/intel-rapl:1:2", "dram");
  EXPECT_EQ(names(), Names{"package-0+dram"});
  EXPECT_EQ(scan_zones(tree_).packages[0].energy.path, "sys/class/powercap/intel-rapl/intel-rapl:1");
}

TEST_F(ZonesTest, PackagesAreOrderedByTheNumbersInTheirNames) {
  zone("intel-rapl/intel-rapl:0", "package-10");
  zone("intel-rapl/intel-rapl:1", "package-2");
  zone("intel-rapl/intel-rapl:2", "package-1-die-1");
  zone("intel-rapl/intel-rapl:3", "package-1-die-0");
  EXPECT_EQ(names(), (Names{"package-1-die-0", "package-1-die-1", "package-2", "package-10"}));
  EXPECT_EQ(scan_zones(tree_).packages[0].zone, 3);
}

TEST_F(ZonesTest, TheFlatViewOfTheKernelIsTheSameZones) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:0:0", "dram");
  EXPECT_EQ(names(), Names{"package-0+dram"});
  zone("intel-rapl/intel-rapl:0", "package-0");
  zone("intel-rapl/intel-rapl:0/intel-rapl:0:0", "dram");
  EXPECT_EQ(names(), Names{"package-0+dram"});
}

TEST_F(ZonesTest, APackageThatAppearsTwiceCountsOnceMsrFirst) {
  zone("intel-rapl-mmio:0", "package-0");
  zone("intel-rapl:0", "package-0");
  const ZoneScan scan = scan_zones(tree_);
  ASSERT_EQ(scan.packages.size(), 1U);
  EXPECT_EQ(scan.packages[0].energy.path, "sys/class/powercap/intel-rapl:0");
}

TEST_F(ZonesTest, TheReadableZoneCountsIfTheFirstIsUnreadable) {
  zone("intel-rapl-mmio:0", "package-0");
  zone("intel-rapl:0", "package-0", "no number");
  EXPECT_EQ(scan_zones(tree_).packages.at(0).energy.path, "sys/class/powercap/intel-rapl-mmio:0");
}

TEST_F(ZonesTest, MemoryBelongsToThePackageAboveIt) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:1", "package-1");
  zone("intel-rapl:1:0", "dram");
  EXPECT_EQ(names(), (Names{"package-0", "package-1+dram"}));
}

TEST_F(ZonesTest, AContainerIsGivenTheHostsTree) {
  tree_.write_durably("zeus_sys/class/powercap/intel-rapl/intel-rapl:0/name", "package-0\n");
  tree_.write_durably("zeus_sys/class/powercap/intel-rapl/intel-rapl:0/energy_uj", "7\n");
  EXPECT_EQ(names(), Names{"package-0"});
}

TEST_F(ZonesTest, NamesOfPackages) {
  EXPECT_EQ(parse_package_name("package-3")->package, 3);
  EXPECT_EQ(parse_package_name("package-3-die-2")->die, 2);
  for (const char* name : {"", "package", "package-", "package-x", "package-1-die-", "package-1-die-x", "package--1",
                           "psys", "dram", "core", "Package-0", "package-0 ", "package-99999999999"}) {
    EXPECT_FALSE(parse_package_name(name)) << name;
  }
}

}  // namespace
}  // namespace zeus::backends::rapl
