#include "backends/rapl/rapl_backend.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zeus::backends::rapl {
namespace {

using device::CpuDomain;
using device::Discovery;

class RaplBackendTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& content) {
    tree_.write_durably("sys/class/powercap/intel-rapl/" + path, content + "\n");
  }
  void zone(const std::string& path, const std::string& name, const std::string& energy) {
    write(path + "/name", name);
    write(path + "/energy_uj", energy);
    write(path + "/max_energy_range_uj", "262143328850");
  }
  Discovery discover() { return RaplBackend{tree_, clock_}.discover(); }

  test::TemporaryFolder folder_;
  FileTree tree_{folder_.path()};
  VirtualClock clock_;
};

TEST_F(RaplBackendTest, ReadsThePackageAndItsMemoryAndWhereTheyWrap) {
  zone("intel-rapl:0", "package-0", "12345678");
  zone("intel-rapl:0/intel-rapl:0:0", "dram", "500000");
  clock_.advance(5_s);
  const Discovery found = discover();
  ASSERT_EQ(found.cpus.size(), 1U);
  EXPECT_TRUE(found.problems.empty());
  EXPECT_FALSE(found.absence);
  EXPECT_EQ(found.summary, "RAPL: 1 package, 1 with memory");
  const device::CpuPackage& cpu = *found.cpus[0];
  EXPECT_EQ(cpu.identity(), (device::CpuIdentity{0, "package-0"}));
  const auto package = cpu.energy(CpuDomain::package);
  ASSERT_TRUE(package);
  EXPECT_DOUBLE_EQ(package->value.value(), 12.345678);
  EXPECT_EQ(package->at, clock_.now());
  EXPECT_DOUBLE_EQ(cpu.energy(CpuDomain::dram)->value.value(), 0.5);
  EXPECT_DOUBLE_EQ(cpu.energy_counter(CpuDomain::package)->wraps_at->value(), 262143.328850);

  write("intel-rapl:0/energy_uj", "22345678");
  EXPECT_DOUBLE_EQ(cpu.energy(CpuDomain::package)->value.value(), 22.345678);
}

TEST_F(RaplBackendTest, WithoutZonesItReportsHowToGetThem) {
  const Discovery found = discover();
  EXPECT_TRUE(found.cpus.empty());
  EXPECT_TRUE(found.problems.empty());
  ASSERT_TRUE(found.absence);
  EXPECT_NE(found.absence->fix.find("modprobe intel_rapl_msr"), std::string::npos);
  EXPECT_EQ(found.summary, "");
}

TEST_F(RaplBackendTest, AZoneThatVanishesIsLostAndTheRestGoesOn) {
  zone("intel-rapl:0", "package-0", "1");
  zone("intel-rapl:1", "package-1", "2000000");
  const Discovery found = discover();
  ASSERT_EQ(found.cpus.size(), 2U);
  std::filesystem::remove_all(folder_.path() / "sys/class/powercap/intel-rapl/intel-rapl:0");
  const auto reading = found.cpus[0]->energy(CpuDomain::package);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.failure().reason, Reason::lost);
  EXPECT_DOUBLE_EQ(found.cpus[1]->energy(CpuDomain::package)->value.value(), 2);
  EXPECT_FALSE(found.cpus[0]->reopen());
  EXPECT_EQ(found.cpus[0]->generation(), 0U);
  zone("intel-rapl:0", "package-0", "3000000");
  EXPECT_TRUE(found.cpus[0]->reopen());
  EXPECT_EQ(found.cpus[0]->generation(), 1U);
  EXPECT_DOUBLE_EQ(found.cpus[0]->energy(CpuDomain::package)->value.value(), 3);
}

TEST_F(RaplBackendTest, AMissingMemoryCounterIsUnsupportedAndNoProblem) {
  zone("intel-rapl:0", "package-0", "1");
  const Discovery found = discover();
  EXPECT_TRUE(found.problems.empty());
  EXPECT_EQ(found.cpus[0]->energy(CpuDomain::dram).failure().reason, Reason::unsupported);
  EXPECT_EQ(found.cpus[0]->energy_counter(CpuDomain::dram).failure().reason, Reason::unsupported);
}

TEST_F(RaplBackendTest, AnInvalidCounterIsNeverANumber) {
  zone("intel-rapl:0", "package-0", "1");
  const Discovery found = discover();
  for (const char* content : {"", "abc", "-5", "12.5", "1e9", "99999999999999999999999", "262143328851"}) {
    write("intel-rapl:0/energy_uj", content);
    const auto reading = found.cpus[0]->energy(CpuDomain::package);
    ASSERT_FALSE(reading) << content;
    EXPECT_EQ(reading.failure().reason, Reason::unreliable) << content;
  }
}

TEST_F(RaplBackendTest, ACounterOfUnknownRangeIsNotUsedSinceItsWrapsWouldGoUnseen) {
  zone("intel-rapl:0", "package-0", "1");
  write("intel-rapl:0/max_energy_range_uj", "unlimited");
  const Discovery found = discover();
  EXPECT_EQ(found.cpus.at(0)->energy(CpuDomain::package).failure().reason, Reason::unsupported);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].device, "package-0");
}

// Root may read everything, so the test for other users runs as the user `nobody`.
class AsNobody {
 public:
  AsNobody() : changed_{::geteuid() == 0 && ::seteuid(65534) == 0} {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (changed_) {
      static_cast<void>(::seteuid(0));
    }
  }

 private:
  bool changed_;
};

TEST_F(RaplBackendTest, AnUnreadableCounterIsAProblemWithItsFixAndTheRestGoesOn) {
  zone("intel-rapl:0", "package-0", "1");
  zone("intel-rapl:1", "package-1", "2000000");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_.path()}) {
    ASSERT_EQ(::chmod(entry.path().c_str(), 0755), 0);
  }
  ASSERT_EQ(::chmod((folder_.path() / "sys/class/powercap/intel-rapl/intel-rapl:0/energy_uj").c_str(), 0000), 0);
  const AsNobody nobody;
  const Discovery found = discover();
  ASSERT_EQ(found.cpus.size(), 2U);
  EXPECT_EQ(found.cpus[0]->energy(CpuDomain::package).failure().reason, Reason::permission);
  EXPECT_TRUE(found.cpus[1]->energy(CpuDomain::package));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].device, "package-0");
  EXPECT_NE(found.problems[0].fix.find("chmod -R a+r"), std::string::npos);
}

}  // namespace
}  // namespace zeus::backends::rapl
