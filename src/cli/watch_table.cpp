#include "cli/watch_table.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace zeus::cli {

namespace {

struct Row {
  std::string node;
  std::string device;
  std::string name;
  std::string power;
  std::string limit;
  std::optional<Joules> energy;
  std::string holder;
};

std::string power_text(const std::optional<Watts>& power, const char* none = "-") {
  return power ? fmt::format("{:.1f} W", power->value()) : none;
}

std::string whole_watts(const std::optional<Watts>& power, const char* none = "-") {
  return power ? fmt::format("{:.0f} W", power->value()) : none;
}

std::string missing_text(const WatchedNode& node) {
  return fmt::format("missing for {}: {}", to_text(node.missing_for.value_or(Seconds{0})), *node.missing);
}

std::string sum_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "GPUs";
    case DeviceKind::cpu:
      return "CPUs";
    case DeviceKind::memory:
      break;
  }
  return "memory";
}

std::string with_commas(const std::vector<std::string>& all) {
  return fmt::format("{}", fmt::join(all, ", "));
}

Row device_row(const WatchedNode& node, const WatchedDevice& device) {
  Row row;
  row.node = node.name;
  row.device = device_name(device);
  row.name = device.name;
  row.power = power_text(device.power);
  row.limit = device.kind == DeviceKind::gpu ? whole_watts(device.limit) : "";
  if (device.energy) {
    row.energy = device.energy->joules;
  }
  if (node.missing) {
    row.holder = "missing";
  } else if (!device.power) {
    row.holder = device.power_reason;
  } else {
    row.holder = device.holder.value_or("");
  }
  return row;
}

std::vector<Row> device_rows(const WatchMoment& moment) {
  std::vector<Row> rows;
  for (const WatchedNode& node : moment.nodes) {
    for (const WatchedDevice& device : node.devices) {
      rows.push_back(device_row(node, device));
    }
    if (node.devices.empty()) {
      Row row;
      row.node = node.name;
      row.holder = node.missing ? "missing" : "it has no devices";
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// How much of everything a sum covers.
std::string part_in(const WatchMoment& moment, const WatchSum& sum) {
  const std::size_t missing = missing_nodes(moment).size();
  std::string text =
      missing == 0 ? "" : fmt::format("of {} of {} nodes", moment.nodes.size() - missing, moment.nodes.size());
  if (!sum.unknown.empty()) {
    text += fmt::format("{}without {}", text.empty() ? "" : ", ", with_commas(sum.unknown));
  }
  return text;
}

std::vector<Row> sum_rows(const WatchMoment& moment) {
  std::vector<Row> rows;
  for (const WatchSum& sum : sums_of(moment)) {
    Row row;
    row.node = "all";
    row.device = sum_name(sum.kind);
    row.power = power_text(sum.power);
    row.energy = sum.energy;
    row.holder = part_in(moment, sum);
    rows.push_back(std::move(row));
  }
  return rows;
}

int width_of_nodes(const WatchMoment& moment, int most) {
  std::size_t width = 4;
  for (const WatchedNode& node : moment.nodes) {
    width = std::max(width, node.name.size());
  }
  return static_cast<int>(std::min(width, static_cast<std::size_t>(most)));
}

// The end of a long name is kept: it tells apart nodes of one domain, or sockets of one folder.
std::string node_cell(const std::string& name, int width) {
  const auto room = static_cast<std::size_t>(width);
  return name.size() <= room ? name : ".." + name.substr(name.size() - room + 2);
}

std::vector<Column> columns_of(const WatchMoment& moment, const Screen& screen) {
  const int node_width = width_of_nodes(moment, screen.columns < 100 ? 20 : 36);
  std::vector<Column> columns{{"node", node_width, Side::left}, {"device", 8, Side::left},
                              {"", 24, Side::left, 6},          {"power", 9, Side::right},
                              {"limit", 6, Side::right, 3},     {"energy", 10, Side::right, 1},
                              {"held by", 12, Side::left, 2}};
  const std::vector<Row> rows = device_rows(moment);
  const std::vector<Row> sums = sum_rows(moment);
  EnergyColumn energies{live_energy_digits};
  for (const auto* const all : {&rows, &sums}) {
    for (const Row& row : *all) {
      energies.fit(row.energy);
    }
  }
  const auto cells = [&](const Row& row) {
    return std::vector<std::string>{node_cell(row.node, node_width),
                                    row.device,
                                    row.name,
                                    row.power,
                                    row.limit,
                                    row.energy ? energies.text(*row.energy) : "-",
                                    row.holder};
  };
  const std::string* former = nullptr;
  for (const Row& row : rows) {
    const std::vector<std::string> texts = cells(row);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      // Only the first row of a node has its name.
      columns[i].cells.push_back(i == 0 && former != nullptr && *former == row.node ? "" : texts[i]);
    }
    former = &row.node;
  }
  for (const Row& sum : sums) {
    const std::vector<std::string> texts = cells(sum);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].sums.push_back(texts[i]);
    }
  }
  return columns;
}

std::string watch_title(const WatchMoment& moment, const Screen& screen) {
  const auto seconds = static_cast<long>(moment.elapsed.value());
  const std::size_t missing = missing_nodes(moment).size();
  std::string title = fmt::format("zeus watch   {}:{:02}:{:02}   {} of {} nodes", seconds / 3600, seconds / 60 % 60,
                                  seconds % 60, moment.nodes.size() - missing, moment.nodes.size());
  if (screen.keys) {
    const bool all = watch_rows_shown(moment, screen) == watch_rows(moment);
    title += all ? "   q quits" : "   q quits, arrows scroll";
  }
  return clipped(title, screen.columns);
}

std::string missing_line(const WatchMoment& moment) {
  std::string line;
  for (const WatchedNode& node : moment.nodes) {
    if (node.missing) {
      line += fmt::format("{}{} for {} ({})", line.empty() ? "missing: " : ", ", node.name,
                          to_text(node.missing_for.value_or(Seconds{0})), *node.missing);
    }
  }
  return line;
}

// The rows left beside the title, an empty line, the headings and the missing nodes.
std::size_t rows_for_devices(const WatchMoment& moment, const Screen& screen) {
  const auto rows = static_cast<std::size_t>(std::max(screen.rows, 6));
  const std::size_t others = 3 + (missing_line(moment).empty() ? 0 : 2);
  return rows > others + 3 ? rows - others : 3;
}

}  // namespace

std::size_t watch_rows(const WatchMoment& moment) {
  return device_rows(moment).size();
}

std::size_t watch_rows_shown(const WatchMoment& moment, const Screen& screen) {
  return shown_rows(watch_rows(moment), rows_for_devices(moment, screen), sums_of(moment).size());
}

std::string watch_table(const WatchMoment& moment, const Screen& screen) {
  Lines lines{.all = {}, .bold = screen.colour, .columns_of_screen = screen.columns};
  lines.add_title(watch_title(moment, screen));
  lines.all.emplace_back();
  std::vector<Column> columns = columns_of(moment, screen);
  fit(columns, screen);
  lines.add_table(columns, rows_for_devices(moment, screen), "devices", screen.first_row);
  if (const std::string missing = missing_line(moment); !missing.empty()) {
    lines.all.emplace_back();
    lines.add_title(clipped(missing, screen.columns));
  }
  return lines.text(static_cast<std::size_t>(std::max(screen.rows, 6)));
}

std::string watch_lines(const WatchMoment& moment) {
  std::string text;
  const int width = width_of_nodes(moment, all_rows);
  const auto add = [&](const std::string& node, const std::string& device, const std::string& rest) {
    text += fmt::format("{:>9.1f} s  {:<{}}  {:<8}  {}", moment.elapsed.value(), node, width, device, rest);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  const auto amounts = [](const std::optional<Watts>& power, const std::optional<Joules>& energy) {
    return fmt::format("{:>9}  {:>10}", power_text(power), energy ? to_text(*energy) : "-");
  };
  for (const WatchedNode& node : moment.nodes) {
    if (node.missing) {
      add(node.name, "-", missing_text(node));
      continue;
    }
    for (const WatchedDevice& device : node.devices) {
      std::string rest = amounts(device.power, device.energy ? std::optional{device.energy->joules} : std::nullopt);
      if (device.limit) {
        rest += fmt::format("  limit {}", whole_watts(device.limit));
      }
      if (device.holder) {
        rest += "  held by " + *device.holder;
      }
      if (!device.power) {
        rest += "  " + device.power_reason;
      }
      add(node.name, device_name(device), rest);
    }
  }
  for (const WatchSum& sum : sums_of(moment)) {
    const std::vector<std::string> missing = missing_nodes(moment);
    add("all", sum_name(sum.kind),
        amounts(sum.power, sum.energy) + (missing.empty() ? "" : "  missing: " + with_commas(missing)) +
            (sum.unknown.empty() ? "" : "  without: " + with_commas(sum.unknown)));
  }
  return text;
}

}  // namespace zeus::cli
