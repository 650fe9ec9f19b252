#include "cli/measure_report.hpp"
#include "cli/monitor_table.hpp"
#include "cli/monitor_view.hpp"
#include "tests/support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <sstream>
#include <vector>

namespace zeus::cli {
namespace {

using ::testing::HasSubstr;

Measurement some_measurement() {
  Measurement m;
  m.start = 100_s;
  m.end = 112.5_s;
  m.gpu_energy[0] = {
      .energy = Energy{.value = 2500_J, .uncertainty = Joules{1.25}, .systematic = {}}, .reason = {}, .remark = {}};
  m.gpu_energy[1] = {.energy = {}, .reason = "the GPU has fallen off the bus", .remark = {}};
  m.gpu_throttle[0] = {.power_cap = 6.25_s, .thermal = 0_s};
  m.cpu_energy[0] = {.energy = Energy{.value = Joules{1234567.891}, .uncertainty = Joules{0.1}, .systematic = 12_J},
                     .reason = {},
                     .remark = "a remark"};
  m.dram_energy[0] = {
      .energy = Energy{.value = 50_J, .uncertainty = Joules{0.01}, .systematic = {}}, .reason = {}, .remark = {}};
  return m;
}

GpusByNumber some_gpus() {
  return {{.uuid = "GPU-8e1d7a52", .name = "NVIDIA H100 80GB HBM3"}, {.uuid = "GPU-0d5e0000", .name = "Tesla V100"}};
}

TEST(MeasureReport, ReadsLikePerfStat) {
  test::expect_golden("cli/measure_text.txt", measure_text(some_measurement(), some_gpus(), "python train.py"));
  Measurement nothing;
  nothing.end = 1_s;
  test::expect_golden("cli/measure_text_without_devices.txt", measure_text(nothing, {}, "true"));
}

TEST(MeasureReport, TheTotalStatesItsCalibrationBesideIt) {
  Measurement m = some_measurement();
  m.gpu_energy[1] = {.energy = Energy{.value = 1500_J, .uncertainty = 2_J, .systematic = {}}};
  const auto text = [&m] { return measure_text(m, some_gpus(), "python train.py"); };
  EXPECT_THAT(text(), HasSubstr("all gpus                        320.00 W, counter, calibration unknown\n"));
  m.gpu_energy[0].energy->systematic = 125_J;
  m.gpu_energy[1].energy->systematic = 75_J;
  EXPECT_THAT(text(), HasSubstr("320.00 W, counter, calibration ± 200 J\n"));
  EXPECT_THAT(text(), HasSubstr("200.00 W, counter\n"));
  m.gpu_energy.erase(1);
  EXPECT_THAT(text(), HasSubstr("200.00 W, counter, calibration ± 125 J\n"));
}

TEST(MeasureReport, WithRatesTheTotalIsMoneyAndCarbonToo) {
  const records::EnergyRates rates{.price = records::parse_price("0.36EUR"), .carbon = records::parse_carbon("360g")};
  Measurement m = some_measurement();
  const auto text = [&] { return measure_text(m, some_gpus(), "python train.py", rates); };
  EXPECT_THAT(text(), testing::Not(HasSubstr("EUR"))) << "one GPU's energy is unknown, and so is the total";
  EXPECT_THAT(measure_json(m, some_gpus(), 0, rates), HasSubstr(R"("cost":null,"carbon_g":null)"));
  m.gpu_energy.erase(1);
  EXPECT_THAT(text(), HasSubstr("   0.00025000 ± 0.00000012 EUR, at 0.36 EUR per kWh\n"));
  EXPECT_THAT(text(), HasSubstr("   0.25000 ± 0.00013 g of CO2, at 360 g per kWh\n"));
  EXPECT_THAT(measure_json(m, some_gpus(), 0, rates), HasSubstr(R"("cost":{"value":0.00025,)"));
}

TEST(MeasureReport, JsonNeverLacksAKey) {
  test::expect_golden("cli/measure.json", measure_json(some_measurement(), some_gpus(), 3) + '\n');
}

TEST(MeasureReport, OfSeveralRunsShowsTheMeanAndItsInterval) {
  std::vector<Measurement> runs = {some_measurement(), some_measurement(), some_measurement()};
  runs[1].end += 1_s;
  runs[1].gpu_energy.at(0).energy->value = 2600_J;
  runs[2].gpu_energy.at(0).energy->value = 2450_J;
  test::expect_golden("cli/measure_runs.txt", measure_text(runs, some_gpus(), "python train.py"));
  test::expect_golden("cli/measure_runs.json", measure_json(runs, some_gpus(), 0) + '\n');
  EXPECT_NE(measure_json(std::span{runs}.first(1), some_gpus(), 7).find(R"("mean":null,"exit_code":7)"),
            std::string::npos);
}

MonitorMoment some_monitor_moment() {
  MonitorMoment moment;
  moment.time = 1.7e9;
  moment.monotonic = 500_s;
  moment.elapsed = 3723_s;
  GpuRow gpu;
  gpu.uuid = "GPU-8e1d7a52";
  gpu.name = "NVIDIA A100-SXM4-40GB";
  gpu.power = Watts{287.34};
  gpu.energy = Joules{1069000};
  gpu.limit = 300_W;
  gpu.sm_clock = 1290_MHz;
  gpu.memory_clock = 1215_MHz;
  gpu.temperature = 61_degC;
  gpu.utilization = 0.97;
  gpu.throttle = "power cap";
  GpuRow lost;
  lost.index = 1;
  lost.uuid = "GPU-0d5e0000";
  lost.name = "NVIDIA A100-SXM4-40GB";
  lost.reason = "lost (the GPU has fallen off the bus)";
  moment.gpus = {gpu, lost};
  CpuRow cpu;
  cpu.name = "package-0";
  cpu.power = Watts{85.5};
  cpu.energy = Joules{3180};
  cpu.dram_power = Watts{12.25};
  cpu.dram_energy = Joules{455.7};
  moment.cpus = {cpu};
  return moment;
}

TEST(MonitorView, IsATableForAPersonAndLinesForPrograms) {
  test::expect_golden("cli/monitor_plain.txt", moment_table(some_monitor_moment(), std::nullopt));
  test::expect_golden("cli/monitor_live.txt", moment_table(some_monitor_moment(), Screen{.columns = 140, .rows = 24}));
  test::expect_golden("cli/monitor.json", moment_json(some_monitor_moment()) + '\n');
  test::expect_golden("cli/monitor.csv", moment_csv_header() + moment_csv(some_monitor_moment()));
}

// How many characters a terminal shows: without escape sequences, and with each block of the bar counted once.
std::size_t shown_width(const std::string& line) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else {
      width += (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U ? 1 : 0;
    }
  }
  return width;
}

TEST(MonitorTable, FitsWhateverTerminalThereIs) {
  MonitorMoment moment = some_monitor_moment();
  for (int i = 2; i < 64; ++i) {
    moment.gpus.push_back(moment.gpus[0]);
    moment.gpus.back().index = i;
  }
  for (const int rows : {8, 24, 100}) {
    for (const int columns : {30, 40, 60, 80, 100, 132, 200}) {
      SCOPED_TRACE(testing::Message() << columns << "x" << rows);
      std::istringstream table{
          moment_table(moment, Screen{.columns = columns, .rows = rows, .keys = true, .first_row = 63})};
      int count = 0;
      for (std::string line; std::getline(table, line); ++count) {
        EXPECT_LE(shown_width(line), static_cast<std::size_t>(columns)) << line;
      }
      EXPECT_LE(count, rows);
    }
  }
  test::expect_golden("cli/monitor_narrow.txt", moment_table(moment, Screen{.columns = 60, .rows = 12}));
  test::expect_golden(
      "cli/monitor_scrolled.txt",
      moment_table(moment, Screen{.columns = 60, .rows = 12, .colour = false, .keys = true, .first_row = 60}));
  EXPECT_NE(moment_table(moment, Screen{.rows = 12, .first_row = 1}).find("... and 1 more above, 59 below\n"),
            std::string::npos);
}

}  // namespace
}  // namespace zeus::cli
