#include "cli/monitor_table.hpp"

#include "base/ink.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zeus::cli {

namespace {

constexpr int power_bar_width = 12;
constexpr int name_width = 24;

template <typename T>
std::string cell(const std::optional<T>& quantity, const char* format, const char* unit) {
  return quantity ? fmt::format(fmt::runtime(format), quantity->value()) + unit : "-";
}

std::string energy_cell(const EnergyColumn& column, const std::optional<Joules>& energy) {
  return energy ? column.text(*energy) : "-";
}

// A bar of the power that a GPU draws, as a part of its limit, in eighths of a character.
std::string bar(const std::optional<Watts>& power, const std::optional<Watts>& limit, bool in_colour) {
  static constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double part = power && limit && *limit > Watts{0} ? std::clamp(*power / *limit, 0.0, 1.0) : 0.0;
  const int filled = static_cast<int>(std::lround(part * power_bar_width * 8));
  std::string text;
  for (int i = 0; i < filled / 8; ++i) {
    text += "█";
  }
  text += eighths.at(static_cast<std::size_t>(filled % 8));
  const int used = filled / 8 + (filled % 8 != 0 ? 1 : 0);
  const std::string rest(static_cast<std::size_t>(power_bar_width - used), ' ');
  return inked(text, part > 0.95 ? Ink::red : part > 0.7 ? Ink::yellow : Ink::green, in_colour) + rest;
}

std::string clock_text(Seconds elapsed) {
  const auto seconds = static_cast<long>(elapsed.value());
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// The sum of the values; nothing if one is unknown.
template <typename Row, typename T>
std::optional<T> sum_if_known(const std::vector<Row>& rows, std::optional<T> Row::*member) {
  std::optional<T> sum{T{}};
  for (const Row& row : rows) {
    sum = sum && row.*member ? std::optional{*sum + *(row.*member)} : std::nullopt;
  }
  return sum;
}

std::vector<Column> gpu_columns(const MonitorMoment& moment, const std::optional<Screen>& screen) {
  const bool in_colour = screen && screen->colour;
  std::vector<Column> columns{{"GPU", 3, Side::right},
                              {"", name_width, Side::left, 6},
                              {"power", 9, Side::right},
                              {"", power_bar_width, Side::left, 8, true},
                              {"limit", 7, Side::right, 5},
                              {"energy", 11, Side::right, 1},
                              {"SM", 9, Side::right, 7},
                              {"memory", 9, Side::right, 9},
                              {"temp", 5, Side::right, 3},
                              {"util", 6, Side::right, 4},
                              {"held back by", 12, Side::left, 2}};
  const std::optional<Joules> all = sum_if_known(moment.gpus, &GpuRow::energy);
  EnergyColumn energies{live_energy_digits};
  energies.fit(all);
  for (const GpuRow& gpu : moment.gpus) {
    energies.fit(gpu.energy);
  }
  for (const GpuRow& gpu : moment.gpus) {
    std::size_t column = 0;
    for (const std::string& text :
         {std::to_string(gpu.index), gpu.name, cell(gpu.power, "{:.1f}", " W"), bar(gpu.power, gpu.limit, in_colour),
          cell(gpu.limit, "{:.0f}", " W"), energy_cell(energies, gpu.energy), cell(gpu.sm_clock, "{:.0f}", " MHz"),
          cell(gpu.memory_clock, "{:.0f}", " MHz"), cell(gpu.temperature, "{:.0f}", " C"),
          gpu.utilization ? fmt::format("{:.0f} %", *gpu.utilization * 100) : "-",
          gpu.power ? gpu.throttle.value_or("-") : gpu.reason}) {
      columns[column++].cells.push_back(text);
    }
  }
  if (moment.gpus.size() > 1) {
    const auto power = sum_if_known(moment.gpus, &GpuRow::power);
    const auto limit = sum_if_known(moment.gpus, &GpuRow::limit);
    std::size_t column = 0;
    for (const std::string& text :
         {std::string{"all"}, std::string{}, cell(power, "{:.1f}", " W"), bar(power, limit, in_colour),
          cell(limit, "{:.0f}", " W"), energy_cell(energies, all)}) {
      columns[column++].sums.push_back(text);
    }
  }
  if (!screen || !screen->bars) {
    std::erase_if(columns, [](const Column& column) { return column.drawn; });
  }
  return columns;
}

std::vector<Column> cpu_columns(const MonitorMoment& moment) {
  std::vector<Column> columns{
      {"CPU", 3, Side::right},        {"", name_width, Side::left, 4},      {"power", 9, Side::right},
      {"energy", 11, Side::right, 1}, {"memory power", 13, Side::right, 3}, {"memory energy", 13, Side::right, 3},
      {"", 12, Side::left, 2}};
  EnergyColumn energies{live_energy_digits};
  EnergyColumn of_memory{live_energy_digits};
  for (const CpuRow& cpu : moment.cpus) {
    energies.fit(cpu.energy);
    of_memory.fit(cpu.dram_energy);
  }
  for (const CpuRow& cpu : moment.cpus) {
    std::size_t column = 0;
    for (const std::string& text : {std::to_string(cpu.index), cpu.name, cell(cpu.power, "{:.1f}", " W"),
                                    energy_cell(energies, cpu.energy), cell(cpu.dram_power, "{:.1f}", " W"),
                                    energy_cell(of_memory, cpu.dram_energy), cpu.power ? std::string{} : cpu.reason}) {
      columns[column++].cells.push_back(text);
    }
  }
  return columns;
}

std::size_t screen_rows(const std::optional<Screen>& screen) {
  return static_cast<std::size_t>(screen ? std::max(screen->rows, 6) : all_rows);
}

// The CPUs take what they need, the GPUs the rest.
std::size_t rows_for_gpus(const MonitorMoment& moment, const std::optional<Screen>& screen) {
  const std::size_t of_cpus = moment.cpus.empty() ? 0 : moment.cpus.size() + 2;
  const std::size_t rows = screen_rows(screen);
  return rows > of_cpus + 5 ? rows - of_cpus - 3 : 2;
}

std::string monitor_title(const MonitorMoment& moment, const std::optional<Screen>& screen) {
  std::string title = fmt::format("zeus monitor   {}", clock_text(moment.elapsed));
  if (screen && screen->keys) {
    const bool all = gpu_rows(moment, *screen) == moment.gpus.size();
    title += all ? "   q quits" : "   q quits, arrows scroll";
  }
  return screen ? clipped(title, screen->columns) : title;
}

}  // namespace

std::size_t gpu_rows(const MonitorMoment& moment, const Screen& screen) {
  return shown_rows(moment.gpus.size(), rows_for_gpus(moment, screen), moment.gpus.size() > 1 ? 1 : 0);
}

std::string moment_table(const MonitorMoment& moment, const std::optional<Screen>& screen) {
  Lines lines{.all = {}, .bold = screen && screen->colour, .columns_of_screen = screen ? screen->columns : all_rows};
  lines.add_title(monitor_title(moment, screen));
  lines.all.emplace_back();
  const std::size_t rows = screen_rows(screen);
  std::vector<Column> gpus = gpu_columns(moment, screen);
  fit(gpus, screen);
  if (moment.gpus.empty()) {
    lines.all.emplace_back("    no GPU can be seen; `zeus doctor` says why");
  } else {
    lines.add_table(gpus, rows_for_gpus(moment, screen), "GPUs", screen ? screen->first_row : 0);
  }
  if (!moment.cpus.empty()) {
    std::vector<Column> cpus = cpu_columns(moment);
    fit(cpus, screen);
    lines.all.emplace_back();
    lines.add_table(cpus, rows, "CPUs");
  }
  return lines.text(screen ? rows : lines.all.size());
}

}  // namespace zeus::cli
