#include "cli/monitor_view.hpp"

#include "cli/json_number.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

namespace zeus::cli {

namespace {

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\n") == std::string::npos ? text : fmt::format("\"{}\"", text);
}

template <typename T>
std::string csv_number(const std::optional<T>& quantity) {
  return quantity ? fmt::format("{:.3f}", quantity->value()) : "";
}

}  // namespace

std::string moment_json(const MonitorMoment& moment) {
  records::JsonWriter json;
  json.object([&] {
    json.put("time", moment.time);
    json.put("monotonic_s", moment.monotonic);
    json.put("elapsed_s", moment.elapsed);
    json.put_list("gpus", moment.gpus, [&](const GpuRow& gpu) {
      json.object([&] {
        json.put("index", gpu.index);
        json.put("uuid", gpu.uuid);
        json.put("name", gpu.name);
        json.put("power_w", json_number(gpu.power), gpu.reason);
        json.put("energy_j", json_number(gpu.energy), gpu.reason);
        json.put("power_limit_w", json_number(gpu.limit));
        json.put("sm_clock_mhz", json_number(gpu.sm_clock));
        json.put("memory_clock_mhz", json_number(gpu.memory_clock));
        json.put("temperature_c", json_number(gpu.temperature));
        json.put("utilization", gpu.utilization);
        json.put("throttle", gpu.throttle);
      });
    });
    json.put_list("cpus", moment.cpus, [&](const CpuRow& cpu) {
      json.object([&] {
        json.put("index", cpu.index);
        json.put("name", cpu.name);
        json.put("power_w", json_number(cpu.power), cpu.reason);
        json.put("energy_j", json_number(cpu.energy), cpu.reason);
        json.put("dram_power_w", json_number(cpu.dram_power));
        json.put("dram_energy_j", json_number(cpu.dram_energy));
      });
    });
  });
  return json.take();
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
