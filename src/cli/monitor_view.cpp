#include "cli/monitor_view.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace zeus::cli {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json number(const std::optional<T>& quantity) {
  return quantity ? Json(std::round(quantity->value() * 1e6) / 1e6) : Json(nullptr);
}

template <typename T>
std::string cell(const std::optional<T>& quantity, const char* format, const char* unit) {
  return quantity ? fmt::format(fmt::runtime(format), quantity->value()) + unit : "-";
}

std::string energy_cell(const std::optional<Joules>& energy) {
  if (!energy) {
    return "-";
  }
  const double joules = energy->value();
  return joules < 1e4   ? fmt::format("{:.1f} J", joules)
         : joules < 1e7 ? fmt::format("{:.2f} kJ", joules / 1e3)
                        : fmt::format("{:.3f} MJ", joules / 1e6);
}

// How much of its limit a GPU draws, in eighths of a character.
std::string bar(const std::optional<Watts>& power, const std::optional<Watts>& limit, int width) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double part = power && limit && *limit > Watts{0} ? std::clamp(*power / *limit, 0.0, 1.0) : 0.0;
  const int filled = static_cast<int>(std::lround(part * width * 8));
  std::string text;
  for (int i = 0; i < filled / 8; ++i) {
    text += "█";
  }
  text += eighths[filled % 8];
  const int used = filled / 8 + (filled % 8 != 0 ? 1 : 0);
  const char* const colour = part > 0.95 ? "\x1b[31m" : part > 0.7 ? "\x1b[33m" : "\x1b[32m";
  return colour + text + "\x1b[0m" + std::string(static_cast<std::size_t>(width - used), ' ');
}

std::string clock_text(Seconds elapsed) {
  const auto seconds = static_cast<long>(elapsed.value());
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\n") == std::string::npos ? text : fmt::format("\"{}\"", text);
}

template <typename T>
std::string csv_number(const std::optional<T>& quantity) {
  return quantity ? fmt::format("{:.3f}", quantity->value()) : "";
}

}  // namespace

std::string moment_table(const MonitorMoment& moment, bool live) {
  constexpr int bar_width = 12;
  const auto title = [&](const std::string& text) { return live ? "\x1b[1m" + text + "\x1b[0m\n" : text + '\n'; };
  const std::string gap = live ? std::string(bar_width + 2, ' ') : "";
  std::string text = title(fmt::format("zeus monitor   {}", clock_text(moment.elapsed)));
  text += '\n';
  text += title(fmt::format("{:>3} {:<24}{:>9}  {}{:>9}{:>12}{:>10}{:>10}{:>7}{:>6}  {}", "GPU", "", "power", gap,
                            "limit", "energy", "SM", "memory", "temp", "util", "held back by"));
  for (const GpuRow& gpu : moment.gpus) {
    text +=
        fmt::format("{:>3} {:<24}{:>9}  {}{:>9}{:>12}{:>10}{:>10}{:>7}{:>6}  {}\n", gpu.index, gpu.name.substr(0, 23),
                    cell(gpu.power, "{:.1f}", " W"), live ? bar(gpu.power, gpu.limit, bar_width) + "  " : "",
                    cell(gpu.limit, "{:.0f}", " W"), energy_cell(gpu.energy), cell(gpu.sm_clock, "{:.0f}", " MHz"),
                    cell(gpu.memory_clock, "{:.0f}", " MHz"), cell(gpu.temperature, "{:.0f}", " C"),
                    gpu.utilization ? fmt::format("{:.0f} %", *gpu.utilization * 100) : "-",
                    gpu.power ? gpu.throttle.value_or("-") : gpu.reason);
  }
  if (moment.gpus.empty()) {
    text += "    no GPU can be seen; `zeus doctor` says why\n";
  }
  if (!moment.cpus.empty()) {
    text += '\n';
    text += title(fmt::format("{:>3} {:<24}{:>9}  {:>12}{:>16}{:>16}", "CPU", "", "power", "energy", "memory power",
                              "memory energy"));
  }
  for (const CpuRow& cpu : moment.cpus) {
    text += fmt::format("{:>3} {:<24}{:>9}  {:>12}{:>16}{:>16}{}\n", cpu.index, cpu.name.substr(0, 23),
                        cell(cpu.power, "{:.1f}", " W"), energy_cell(cpu.energy), cell(cpu.dram_power, "{:.1f}", " W"),
                        energy_cell(cpu.dram_energy), cpu.power ? "" : "  " + cpu.reason);
  }
  return text;
}

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
