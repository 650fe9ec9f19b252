#include "cli/watch_view.hpp"
#include "cli/watch_table.hpp"
#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace zeus::cli {
namespace {

WatchedDevice gpu(std::uint32_t id, Watts power, Joules energy) {
  WatchedDevice device;
  device.id = id;
  device.uuid = "GPU-" + std::to_string(id);
  device.name = "NVIDIA A100-SXM4-40GB";
  device.power = power;
  device.limit = Watts{400};
  device.energy = WatchedEnergy{
      .joules = energy, .from = Instant{100'000'000'000}, .to = Instant{112'000'000'000}, .began_anew = 0};
  device.holder_reason = "no process has a lease of it";
  return device;
}

WatchedNode node(std::string name) {
  WatchedNode node;
  node.name = std::move(name);
  node.daemon = "zeusd 0.1.0";
  node.clock_offset = Seconds{3.0004};
  node.clock_doubt = Seconds{0.0002};
  node.restarts = 0;
  return node;
}

WatchMoment some_watch_moment() {
  WatchMoment moment;
  moment.time = 1795231401.845;
  moment.monotonic = Seconds{112.25};
  moment.elapsed = Seconds{12.5};
  WatchedNode first = node("node1.example.org:4938");
  first.devices = {gpu(0, Watts{212.5}, Joules{2550}), gpu(1, Watts{98.25}, Joules{1180})};
  first.devices[0].holder = "process 1234 (python3) of user ann";
  first.devices[0].holder_reason.clear();
  WatchedDevice package;
  package.kind = DeviceKind::cpu;
  package.name = "package-0";
  package.power = Watts{80};
  package.energy = WatchedEnergy{
      .joules = Joules{960}, .from = Instant{100'500'000'000}, .to = Instant{112'500'000'000}, .began_anew = 1};
  package.limit_reason = "zeusd reports none for a CPU package";
  package.holder_reason = "CPU packages have no leases";
  first.devices.push_back(package);
  WatchedNode second = node("node2.example.org:4938");
  second.missing = "Connection refused";
  second.missing_for = Seconds{4};
  second.restarts = 1;
  second.devices = {gpu(0, Watts{0}, Joules{1600})};
  second.devices[0].power.reset();
  second.devices[0].power_reason = "its node is missing";
  WatchedNode third = node("/run/zeusd/zeusd.sock");
  third.restarts.reset();
  third.devices = {gpu(0, Watts{0}, Joules{0})};
  third.devices[0].power.reset();
  third.devices[0].energy.reset();
  third.devices[0].power_reason = "its driver has not answered for 4 s";
  third.devices[0].energy_reason = "its driver has not answered for 4 s";
  WatchedNode fourth;
  fourth.name = "node4:4938";
  fourth.missing = "it has not answered yet";
  fourth.missing_for = Seconds{12.5};
  moment.nodes = {first, second, third, fourth};
  return moment;
}

TEST(WatchView, IsWhatProgramsRead) {
  test::expect_golden("cli/watch.json", watch_json(some_watch_moment()) + '\n');
}

TEST(WatchView, IsATableOnATerminal) {
  test::expect_golden(
      "cli/watch_narrow.txt",
      watch_table(some_watch_moment(), Screen{.columns = 80, .rows = 23, .colour = false, .keys = true}));
  test::expect_golden(
      "cli/watch_wide.txt",
      watch_table(some_watch_moment(), Screen{.columns = 132, .rows = 23, .colour = true, .keys = true}));
}

TEST(WatchView, IsLinesInAPipe) {
  test::expect_golden("cli/watch_lines.txt", watch_lines(some_watch_moment()));
}

TEST(WatchView, SumsEveryKnownJouleAndThePowerOfPresentNodes) {
  const auto sums = sums_of(some_watch_moment());
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].kind, DeviceKind::gpu);
  EXPECT_EQ(sums[0].power, Watts{310.75});
  EXPECT_EQ(sums[0].energy, Joules{5330});
  EXPECT_EQ(sums[0].unknown, std::vector<std::string>{"/run/zeusd/zeusd.sock GPU 0"});
  EXPECT_EQ(sums[1].power, Watts{80});
  EXPECT_EQ(missing_nodes(some_watch_moment()), (std::vector<std::string>{"node2.example.org:4938", "node4:4938"}));
}

TEST(WatchView, IsNeverLargerThanItsTerminal) {
  WatchMoment moment = some_watch_moment();
  for (std::uint32_t id = 2; id < 60; ++id) {
    moment.nodes[0].devices.push_back(gpu(id, Watts{100}, Joules{100}));
  }
  for (const int columns : {40, 60, 80, 132, 200}) {
    for (const int rows : {6, 12, 24}) {
      const Screen screen{.columns = columns, .rows = rows, .colour = false, .keys = true, .first_row = 20};
      std::istringstream table{watch_table(moment, screen)};
      int lines = 0;
      for (std::string line; std::getline(table, line); ++lines) {
        EXPECT_LE(line.size(), static_cast<std::size_t>(std::max(columns, 56))) << line;
      }
      EXPECT_LE(lines, rows);
      EXPECT_LE(watch_rows_shown(moment, screen), static_cast<std::size_t>(rows));
    }
  }
}

}  // namespace
}  // namespace zeus::cli
