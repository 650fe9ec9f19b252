#include "cli/monitor_view.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace zeus::cli {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json number(const std::optional<T>& quantity) {
  return quantity ? Json(std::round(quantity->value() * 1e6) / 1e6) : Json(nullptr);
}

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\n") == std::string::npos ? text : fmt::format("\"{}\"", text);
}

template <typename T>
std::string csv_number(const std::optional<T>& quantity) {
  return quantity ? fmt::format("{:.3f}", quantity->value()) : "";
}

}  // namespace

std::string moment_json(const MonitorMoment& moment) {
  Json json{{"time", moment.time}, {"monotonic_s", moment.monotonic.value()}, {"elapsed_s", moment.elapsed.value()}};
  json["gpus"] = Json::array();
  for (const GpuRow& gpu : moment.gpus) {
    Json row{{"index", gpu.index},
             {"name", gpu.name},
             {"power_w", number(gpu.power)},
             {"energy_j", number(gpu.energy)},
             {"power_limit_w", number(gpu.limit)},
             {"sm_clock_mhz", number(gpu.sm_clock)},
             {"memory_clock_mhz", number(gpu.memory_clock)},
             {"temperature_c", number(gpu.temperature)},
             {"utilization", gpu.utilization ? Json(*gpu.utilization) : Json(nullptr)},
             {"throttle", gpu.throttle ? Json(*gpu.throttle) : Json(nullptr)}};
    if (!gpu.power) {
      row["reason"] = Json{{"power_w", gpu.reason}};
    }
    json["gpus"].push_back(std::move(row));
  }
  json["cpus"] = Json::array();
  for (const CpuRow& cpu : moment.cpus) {
    Json row{{"index", cpu.index},
             {"name", cpu.name},
             {"power_w", number(cpu.power)},
             {"energy_j", number(cpu.energy)},
             {"dram_power_w", number(cpu.dram_power)},
             {"dram_energy_j", number(cpu.dram_energy)}};
    if (!cpu.power) {
      row["reason"] = Json{{"power_w", cpu.reason}};
    }
    json["cpus"].push_back(std::move(row));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string moment_csv_header() {
  return "time,device,power_w,energy_j,power_limit_w,sm_clock_mhz,memory_clock_mhz,temperature_c,throttle\n";
}

std::string moment_csv(const MonitorMoment& moment) {
  std::string text;
  for (const GpuRow& gpu : moment.gpus) {
    text += fmt::format("{:.6f},gpu{},{},{},{},{},{},{},{}\n", moment.time, gpu.index, csv_number(gpu.power),
                        csv_number(gpu.energy), csv_number(gpu.limit), csv_number(gpu.sm_clock),
                        csv_number(gpu.memory_clock), csv_number(gpu.temperature), csv_cell(gpu.throttle.value_or("")));
  }
  for (const CpuRow& cpu : moment.cpus) {
    text +=
        fmt::format("{:.6f},cpu{},{},{},,,,,\n", moment.time, cpu.index, csv_number(cpu.power), csv_number(cpu.energy));
    if (cpu.dram_power) {
      text += fmt::format("{:.6f},dram{},{},{},,,,,\n", moment.time, cpu.index, csv_number(cpu.dram_power),
                          csv_number(cpu.dram_energy));
    }
  }
  return text;
}

}  // namespace zeus::cli
