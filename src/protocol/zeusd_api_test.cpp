#include "protocol/zeusd_api.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/record_properties.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::protocol {
namespace {

using records::json_line;
using testing::HasSubstr;

template <typename Answer>
std::string why_not(std::string_view json) {
  try {
    static_cast<void>(read_answer<Answer>(json));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    return error.what();
  }
  ADD_FAILURE() << json << " is read";
  return {};
}

std::string indented(const auto& record) {
  records::JsonWriter json{records::JsonWriter::Layout::indented};
  json.value(record);
  return json.take() + "\n";
}

// What is promised of each record.

template <typename Record>
class AnswerTest : public testing::Test {};
using Answers =
    testing::Types<DiscoveryAnswer, TimeAnswer, WhoAmIAnswer, ReportedReading<Joules>, ReportedPower, ReportedLimits,
                   ReportedClocks, ReportedLock, SupportedClocks, ReportedReading<ReportedUtilization>, CpuReadings,
                   GpuSettings, LeaseHolder, LeaseAnswer, ListedLease, Conflict, SettingOutcome>;
struct Names {
  template <typename Record>
  static std::string GetName(int index) {
    return std::to_string(index);
  }
};
TYPED_TEST_SUITE(AnswerTest, Answers, Names);

TYPED_TEST(AnswerTest, ReadsBackItsOwnFormAndNoOther) {
  test::expect_properties<TypeParam>({"name",
                                      "pci_address",
                                      "cumulative_energy_available",
                                      "uuid",
                                      "vendor",
                                      "driver",
                                      "allowed_power_limits",
                                      "enabled_api_groups",
                                      "auth_required",
                                      "zeusd",
                                      "exp",
                                      "reason",
                                      "detail",
                                      "power_limit_w",
                                      "clocks",
                                      "persistence_mode",
                                      "uid",
                                      "user",
                                      "pid",
                                      "command",
                                      "cgroup",
                                      "token"});
}

// The existing daemon's forms, to the letter.

TEST(ZeusdBodiesTest, AreTheExistingDaemonsToTheLetter) {
  EXPECT_EQ(json_line(TimeAnswer{.timestamp_ms = 1795231401845}), R"({"timestamp_ms":1795231401845})");
  EXPECT_EQ(json_line(WhoAmIAnswer{.sub = "ann", .scopes = {"gpu-read"}, .exp = 1795235062}),
            R"({"sub":"ann","scopes":["gpu-read"],"exp":1795235062})");
  EXPECT_EQ(json_line(WhoAmIAnswer{.sub = "ann", .scopes = {}, .exp = {}}), R"({"sub":"ann","scopes":[]})");
  EXPECT_EQ(json_line(GpuPowerAnswer{.timestamp_ms = 1, .power = {{{10, {98_W}}, {2, {150_W}}}}}),
            R"({"timestamp_ms":1,"power_mw":{"2":150000,"10":98000}})");
  EXPECT_EQ(json_line(GpuEnergyAnswer{{{0, {{500_J}}}}}), R"({"0":{"energy_mj":500000}})");
  EXPECT_EQ(json_line(GpuPowerLimitAnswer{{{0, {{250_W}}}}}), R"({"0":{"power_limit_mw":250000}})");
  EXPECT_EQ(json_line(GpuPowerLimitRangeAnswer{{{0, {.minimum = {100_W}, .maximum = {300_W}}}}}),
            R"({"0":{"min_power_limit_mw":100000,"max_power_limit_mw":300000}})");
  EXPECT_EQ(json_line(GpuPersistenceModeAnswer{{{0, {.enabled = true}}}}), R"({"0":{"enabled":true}})");
  EXPECT_EQ(json_line(CpuEnergyAnswer{{{0, {.package = WholeMicrojoules{Joules{123e-6}}, .dram = {}}}}}),
            R"({"0":{"cpu_energy_uj":123,"dram_energy_uj":null}})");
  EXPECT_EQ(json_line(CpuPowerAnswer{.timestamp_ms = 1, .power = {{{0, {.package = {85_W}, .dram = {}}}}}}),
            R"({"timestamp_ms":1,"power_mw":{"0":{"cpu_mw":85000,"dram_mw":null}}})");
  EXPECT_EQ(json_line(GpuPowerEvent{.timestamp_ms = 1, .gpu_id = 0, .power = {150_W}}),
            R"({"timestamp_ms":1,"gpu_id":0,"power_mw":150000})");
  EXPECT_EQ(json_line(CpuPowerEvent{.timestamp_ms = 1, .cpu_id = 0, .power = {.package = {0.1_W}, .dram = {}}}),
            R"({"timestamp_ms":1,"cpu_id":0,"cpu_mw":100,"dram_mw":null})");
  EXPECT_EQ(json_line(GpuEnergyAnswer{}), "{}");
}

DiscoveryAnswer discovery() {
  return {.gpus = {{.id = 0,
                    .name = "NVIDIA H200",
                    .pci_address = "0000:1b:00.0",
                    .cumulative_energy_available = true,
                    .uuid = "GPU-8e1d7a52-1111-2222-3333-444455556666",
                    .vendor = std::string{vendor_word(GpuVendor::nvidia)},
                    .driver = "550.54.15"}},
          .cpus = {{.id = 0, .dram_available = false, .name = "package-0"}},
          .enabled_api_groups = {{"gpu-control", "gpu-read"}},
          .auth_required = false,
          .zeusd = DaemonIdentity{.version = "0.1.0", .api = 1, .instance = "5f0c"}};
}

TEST(ZeusdBodiesTest, DiscoveryHasTheExistingKeysFirst) {
  test::expect_golden("protocol/discover.json", json_line(discovery()) + "\n");
}

TEST(ZeusdBodiesTest, ValuesMissingFromAnExistingDaemonAreUnknown) {
  const auto old = read_answer<DiscoveryAnswer>(
      R"({"gpus":[{"id":0,"name":"A100"}],"cpus":[],"enabled_api_groups":["gpu-control"],"auth_required":true})");
  EXPECT_EQ(old.gpus.at(0).name, "A100");
  EXPECT_FALSE(old.gpus.at(0).pci_address);
  EXPECT_FALSE(old.zeusd);
  EXPECT_EQ(read_answer<DiscoveryAnswer>(R"({"gpus":[{"id":0}],"cpus":[]})").auth_required, std::nullopt);
}

TEST(ZeusdBodiesTest, IgnoresAdditionsOfANewerDaemon) {
  const auto newer = read_answer<DiscoveryAnswer>(
      R"({"gpus":[{"id":3,"name":"X","later":{"a":[1]}}],"cpus":[{"id":0,"dram_available":true,"cores":64}],"more":1})");
  EXPECT_EQ(newer.gpus.at(0).id, 3U);
  EXPECT_TRUE(newer.cpus.at(0).dram_available);
  const auto reading = read_answer<ReportedReading<Joules>>(
      R"({"value_j":null,"at_ns":5,"latency_s":0.0,"reason":"asleep","detail":"since noon"})");
  EXPECT_EQ(reading.reading("since noon").failure(), (Failure{Reason::unknown, "since noon"}));
  EXPECT_EQ(vendor_of("intel"), std::nullopt);
  EXPECT_EQ(vendor_of("amd"), GpuVendor::amd);
}

TEST(ZeusdBodiesTest, ReportsThePlaceOfAMissingOrMistypedValue) {
  EXPECT_THAT(why_not<DiscoveryAnswer>(R"({"cpus":[]})"), HasSubstr("it has no 'gpus'"));
  EXPECT_THAT(why_not<DiscoveryAnswer>(R"({"gpus":[{"name":"x"}],"cpus":[]})"), HasSubstr("it has no 'gpus[0].id'"));
  EXPECT_THAT(why_not<DiscoveryAnswer>(R"({"gpus":[{"id":"0"}],"cpus":[]})"), HasSubstr("'gpus[0].id' is not a whole"));
  EXPECT_THAT(why_not<GpuEnergyAnswer>(R"({"0":{"energy_mj":-1}})"), HasSubstr("'0.energy_mj' is not"));
  EXPECT_THAT(why_not<GpuEnergyAnswer>(R"({"0":{"energy_mj":1.5}})"), HasSubstr("'0.energy_mj' is not"));
  EXPECT_THAT(why_not<GpuEnergyAnswer>(R"({"x":{"energy_mj":1}})"), HasSubstr("'x' is not named by a number"));
  EXPECT_THAT(why_not<GpuEnergyAnswer>(R"({"0":{}})"), HasSubstr("it has no '0.energy_mj'"));
  EXPECT_THAT(why_not<CpuEnergyAnswer>(R"({"0":{"cpu_energy_uj":1}})"), HasSubstr("it has no '0.dram_energy_uj'"));
  EXPECT_THAT(why_not<TimeAnswer>("<html>"), HasSubstr("it is not JSON"));
}

TEST(ZeusdBodiesTest, WholeNumbersComeBackAsTheyWere) {
  Random random{11};
  for (int round = 0; round < 1000; ++round) {
    GpuEnergyAnswer energies;
    CpuPowerAnswer powers{.timestamp_ms = random.bits(), .power = {}};
    for (std::uint64_t left = random.below(4); left > 0; --left) {
      const auto id = static_cast<std::uint32_t>(random.below(200));
      energies.of[id] = {.energy = WholeMillijoules::of_parts(random.bits() >> random.below(64))};
      CpuPower& power = powers.power.of[id];
      power.package = WholeMilliwatts::of_parts(random.below(1U << 30U));
      // Amounts of any realistic size are exact.
      EXPECT_EQ(WholeMilliwatts{power.package.amount()}, power.package);
      if (random.below(2) == 0) {
        power.dram = WholeMilliwatts::of_parts(random.below(1U << 30U));
      }
    }
    EXPECT_EQ(read_answer<GpuEnergyAnswer>(json_line(energies)), energies);
    EXPECT_EQ(read_answer<CpuPowerAnswer>(json_line(powers)), powers);
  }
}

TEST(ZeusdBodiesTest, UnrepresentableValuesBecomeTheNearestWholeNumber) {
  EXPECT_EQ(json_line(WholeMilliwatts{Watts{-1.0}}), "0");
  EXPECT_EQ(json_line(WholeMilliwatts{Watts{std::nan("")}}), "0");
  EXPECT_EQ(json_line(WholeMilliwatts{Watts{1e300}}), "18446744073709551615");
  EXPECT_EQ(json_line(WholeMilliwatts{Watts{0.0005}}), "1");
}

// Readings.

constexpr Moment moment{.at = {1000}, .latency = 0.001_s};

TEST(ReadingsTest, AReadingIsAValueWithItsTimeOrTheReason) {
  const ReportedReading<Watts> told{Reading<device::Stamped<Watts>>{{.value = 212.5_W, .at = {7}, .latency = 0.25_s}},
                                    moment};
  EXPECT_EQ(json_line(told), R"({"value_w":212.5,"at_ns":7,"latency_s":0.25})");
  EXPECT_EQ(*told.stamped(), (device::Stamped<Watts>{.value = 212.5_W, .at = {7}, .latency = 0.25_s}));
  const ReportedReading<Watts> failed{Reading<Watts>{Failure{Reason::permission, "for root only"}}, moment};
  EXPECT_EQ(json_line(failed),
            R"({"value_w":null,"at_ns":1000,"latency_s":0.001,"reason":"permission","detail":"for root only"})");
  EXPECT_EQ(failed.reading("for root only").failure(), (Failure{Reason::permission, "for root only"}));
  EXPECT_EQ(failed.stamped().failure(), (Failure{Reason::permission, {}}));
}

Readings readings() {
  Readings all;
  all.now = {5'000'000'000};
  all.timestamp_ms = 1795231401845;
  all.instance = "5f0c";
  GpuReadings gpu;
  gpu.id = 0;
  gpu.uuid = "GPU-8e1d7a52-1111-2222-3333-444455556666";
  gpu.generation = 2;
  gpu.energy = {Reading<device::Stamped<Joules>>{{.value = 12345.678_J, .at = {4'999'999'000}, .latency = 0.0002_s}},
                moment};
  gpu.counter = ReportedCounter{device::EnergyCounter{.resolution = 0.001_J, .wraps_at = {}, .scope = PowerScope::gpu}};
  gpu.power = {{.kind = PowerKind::instant, .scope = PowerScope::gpu, .power = {Reading<Watts>{212.5_W}, moment}},
               {.kind = PowerKind::average,
                .scope = PowerScope::memory,
                .power = {Reading<Watts>{Failure{Reason::timeout, "the driver is busy"}}, moment}}};
  PowerLimits limits;
  limits.current = 220_W;
  limits.standard = 700_W;
  limits.minimum = 200_W;
  limits.maximum = 700_W;
  limits.enforced = Reason::permission;
  gpu.limits = {limits, moment};
  gpu.clocks = {device::Clocks{.graphics = 1410_MHz,
                               .sm = 1410_MHz,
                               .memory = 1593_MHz,
                               .maximum_graphics = 1980_MHz,
                               .maximum_memory = Reason::unsupported},
                moment};
  gpu.locks = {{.domain = ClockDomain::graphics,
                .state = {Reading<LockState>{LockState{ClockRange{.minimum = 900_MHz, .maximum = 1410_MHz}}}, moment}},
               {.domain = ClockDomain::memory, .state = {Reading<LockState>{LockState{}}, moment}}};
  gpu.supported_clocks = {{.memory = 1593_MHz, .graphics = {1980_MHz, 1965_MHz}}};
  gpu.temperature = {Reading<Celsius>{Celsius{61.0}}, moment};
  gpu.utilization = {Reading<ReportedUtilization>{ReportedUtilization{.gpu = 0.97, .memory = 0.5}}, moment};
  ThrottleReasons reasons;
  reasons.add(ThrottleReason::power_cap);
  reasons.add(ThrottleReason::software_thermal);
  gpu.throttle = {Reading<ReportedThrottle>{ReportedThrottle{reasons}}, moment};
  gpu.throttle_times = {device::ThrottleTimes{.at = {1000},
                                              .power_cap = 12.5_s,
                                              .sync_boost = 0_s,
                                              .software_thermal = 1_s,
                                              .hardware_thermal = 0_s,
                                              .power_brake = Reason::unsupported},
                        0.001_s};
  gpu.persistence_mode = {Reading<bool>{true}, moment};
  all.gpus = {gpu};
  CpuReadings cpu;
  cpu.id = 0;
  cpu.name = "package-0";
  cpu.package.energy = {Reading<Joules>{99.5_J}, moment};
  cpu.package.counter =
      ReportedCounter{device::EnergyCounter{.resolution = 61e-6_J, .wraps_at = {}, .scope = PowerScope::package}};
  cpu.package.began_ns = 1'000'000'000;
  cpu.dram.energy = {Reading<Joules>{Reason::unsupported}, moment};
  all.cpus = {cpu};
  return all;
}

TEST(ReadingsTest, AllOfANodeStandInOneAnswer) {
  test::expect_golden("protocol/readings.json", indented(readings()));
  EXPECT_EQ(read_answer<Readings>(json_line(readings())), readings());
}

TEST(ReadingsTest, ReadsBackADevicesAnswer) {
  const GpuReadings gpu = read_answer<Readings>(json_line(readings())).gpus.at(0);
  EXPECT_EQ(gpu.limits.limits().current, Reading<Watts>{220_W});
  EXPECT_EQ(gpu.limits.limits().enforced, Reading<Watts>{Reason::permission});
  EXPECT_EQ(gpu.clocks.clocks().maximum_graphics, Reading<Megahertz>{1980_MHz});
  EXPECT_EQ(gpu.throttle_times.times().power_cap, Reading<Seconds>{12.5_s});
  EXPECT_EQ(gpu.throttle_times.times().at, Instant{1000});
  EXPECT_EQ(to_string(gpu.throttle.value->reasons), "power cap, software thermal");
  EXPECT_EQ(gpu.counter->counter().resolution, 0.001_J);
}

TEST(ReadingsTest, EveryThrottleReasonHasAWord) {
  for (std::uint32_t bits = 0; bits < 1U << 9U; ++bits) {
    const ReportedReading<ReportedThrottle> told{Reading<ReportedThrottle>{ReportedThrottle{ThrottleReasons{bits}}},
                                                 moment};
    EXPECT_EQ(read_answer<ReportedReading<ReportedThrottle>>(json_line(told)), told);
  }
  const auto newer =
      read_answer<ReportedReading<ReportedThrottle>>(R"({"value":["idle","solar_wind"],"at_ns":1,"latency_s":0})");
  EXPECT_EQ(to_string(newer.value->reasons), "idle");
}

// Leases.

TEST(LeasesTest, AHolderIsNamedByWhatIsKnownOfIt) {
  EXPECT_EQ(to_text(LeaseHolder{.uid = 1000, .user = "ann", .pid = 1234, .command = "python3"}),
            "process 1234 (python3) of user ann");
  EXPECT_EQ(to_text(LeaseHolder{.uid = 1000, .pid = 1234}), "process 1234 of user 1000");
  EXPECT_EQ(to_text(LeaseHolder{.token = "ann"}), "the token of ann");
  EXPECT_EQ(to_text(LeaseHolder{.uid = 0}), "user 0");
  EXPECT_EQ(to_text(LeaseHolder{}), "an unknown process");
}

TEST(LeasesTest, AreWrittenAsOneReadsThem) {
  const LeaseHolder holder{.uid = 1000, .user = "ann", .pid = 1234, .command = "python3", .cgroup = "/job_7"};
  const LeasedGpu gpu{
      .id = 0,
      .uuid = "GPU-8e1d7a52",
      .asked = {.power_limit = 220_W,
                .clocks = {{{.domain = ClockDomain::graphics, .range = {.minimum = 900_MHz, .maximum = 900_MHz}}}}},
      .in_force = {.power_limit = 220_W, .persistence_mode = true}};
  test::expect_golden(
      "protocol/leases.json",
      indented(LeaseAnswer{.id = "7", .gpus = {gpu}, .term = 60_s, .expires_in = 59.5_s, .longest = 86400_s}) +
          indented(LeaseList{{{.id = "7",
                               .kind = LeaseKind::explicit_lease,
                               .holder = holder,
                               .gpus = {gpu},
                               .since_ms = 1795231401845,
                               .held = 0.5_s,
                               .term = 60_s,
                               .expires_in = 59.5_s}}}) +
          indented(Conflict{.error = "GPU 0 is leased by " + to_text(holder), .gpu_id = 0, .holder = holder}) +
          indented(Outcomes{{{.number = 3,
                              .gpu_id = 0,
                              .request = "set_power_limit",
                              .lease = "7",
                              .asked = {.power_limit = 220_W},
                              .enforced = GpuSettings{.power_limit = 220_W},
                              .status = std::uint16_t{200},
                              .when_ms = 1795231401845}}}));
}

TEST(GpuPartsTest, AreWordsOfAQuery) {
  EXPECT_EQ(GpuParts::read("energy,clocks"), std::uint32_t{GpuParts::energy} | GpuParts::clocks);
  EXPECT_EQ(GpuParts::text(GpuParts::energy | GpuParts::clocks), "energy,clocks");
  EXPECT_EQ(GpuParts::read(GpuParts::text(GpuParts::usual)), std::uint32_t{GpuParts::usual});
  for (const char* const wrong : {"", ",", "energy,", "energy,,power", "Energy", "energy, power", "none"}) {
    EXPECT_EQ(GpuParts::read(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace zeus::protocol
