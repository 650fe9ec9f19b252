// What `zeus monitor` shows of one moment, and its forms for programs (monitor_table.hpp has the one for a person).
// Pure functions and plain values.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

struct GpuRow {
  int index = 0;
  std::string uuid;
  std::string name;
  std::optional<Watts> power;    // mean since the last moment
  std::optional<Joules> energy;  // since the start
  std::optional<Watts> limit;    // as enforced
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  std::optional<Celsius> temperature;
  std::optional<double> utilization;
  std::optional<std::string> throttle;
  std::string reason;  // why power or energy is not known
};

struct CpuRow {
  int index = 0;
  std::string name;
  std::optional<Watts> power;
  std::optional<Joules> energy;
  std::optional<Watts> dram_power;
  std::optional<Joules> dram_energy;
  std::string reason;
};

struct MonitorMoment {
  double time = 0;    // seconds since 1970
  Seconds monotonic;  // on the machine's monotonic clock
  Seconds elapsed;    // since the start
  std::vector<GpuRow> gpus;
  std::vector<CpuRow> cpus;
};

// One object on one line, without its end.
std::string moment_json(const MonitorMoment& moment);
std::string moment_csv_header();
std::string moment_csv(const MonitorMoment& moment);

}  // namespace zeus::cli
