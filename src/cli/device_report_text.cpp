#include "base/ink.hpp"
#include "cli/device_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace zeus::cli {

namespace {

template <typename T, typename Form>
std::string shown(const Reading<T>& reading, Form form) {
  return reading ? form(*reading) : to_string(reading.failure());
}

std::string watts_or_why(const Reading<Watts>& reading) {
  return shown(reading, [](Watts power) { return fmt::format("{:.6g} W", power.value()); });
}

std::string megahertz(const Reading<Megahertz>& reading) {
  return shown(reading, [](Megahertz clock) { return fmt::format("{:.6g} MHz", clock.value()); });
}

std::string power_or_why(const device::Gpu& gpu) {
  const ShownPower power = power_to_show(gpu);
  return shown(power.reading, [&](const device::Stamped<Watts>& stamped) {
    return fmt::format("{:.1f} W ({})", stamped.value.value(), to_string(power.kind));
  });
}

std::string limits_of(const device::Gpu& gpu) {
  const PowerLimits limits = gpu.power_limits();
  if (!limits.current) {
    return to_string(limits.current.failure());
  }
  return fmt::format("{} (from {} to {}, default {}, enforced {})", watts_or_why(limits.current),
                     watts_or_why(limits.minimum), watts_or_why(limits.maximum), watts_or_why(limits.standard),
                     watts_or_why(limits.enforced));
}

// A power limit cuts peaks, also where the power that is shown is well below it.
std::string reasons_or_why(const device::Gpu& gpu) {
  return shown(gpu.throttle_reasons(), [&](ThrottleReasons reasons) {
    constexpr double near_limit = 0.95;
    const Reading<device::Stamped<Watts>> power = power_to_show(gpu).reading;
    const Reading<Watts> limit = gpu.power_limits().enforced;
    const bool below = power && limit && power->value < *limit * near_limit;
    return to_string(reasons) + (below && reasons.has(ThrottleReason::power_cap) ? " (in peaks)" : "");
  });
}

std::string counter_or_why(const DeviceReport& report, std::size_t index) {
  const Reading<device::EnergyCounter> counter = report.inventory.gpus[index].gpu->energy_counter();
  if (!counter) {
    return to_string(counter.failure());
  }
  return shown(report.update_periods[index],
               [](Seconds period) { return fmt::format("every {:.0f} ms", Milliseconds{period}.value()); });
}

void add_gpu(const DeviceReport& report, std::size_t index, bool in_colour, std::string& text) {
  const device::Gpu& gpu = *report.inventory.gpus[index].gpu;
  const device::GpuIdentity& identity = gpu.identity();
  const device::Clocks clocks = gpu.clocks();
  const auto line = [&](const char* name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "    {:<16}{}\n", name, value);
  };
  const std::optional<int> number = report.inventory.gpus[index].number;
  fmt::format_to(std::back_inserter(text), "  {}  {}{}\n", number ? std::to_string(*number) : "-",
                 inked(identity.name, Ink::bold, in_colour), number ? "" : ", hidden from programs");
  line("machine's index", std::to_string(index));
  line("uuid", identity.uuid);
  line("pci", to_string(identity.pci));
  line("driver", identity.driver);
  line("power", power_or_why(gpu));
  line("power limit", limits_of(gpu));
  line("energy counter", counter_or_why(report, index));
  line("clocks", fmt::format("sm {}, memory {}", megahertz(clocks.sm), megahertz(clocks.memory)));
  line("temperature", shown(gpu.temperature(), [](Celsius point) { return fmt::format("{:.0f} C", point.value()); }));
  line("held back by", reasons_or_why(gpu));
}

// By the numbers that programs use; GPUs without one come last, in the machine's order.
std::vector<std::size_t> as_numbered(const device::Inventory& inventory) {
  std::vector<std::size_t> order(inventory.gpus.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t index) {
    return inventory.gpus[index].number.value_or(std::numeric_limits<int>::max());
  });
  return order;
}

void add_cpu(const device::CpuPackage& cpu, std::string& text) {
  const Reading<device::Stamped<Joules>> energy = cpu.energy(device::CpuDomain::package);
  const bool memory = static_cast<bool>(cpu.energy(device::CpuDomain::dram));
  fmt::format_to(std::back_inserter(text), "  {}  {}: {}\n", cpu.identity().index, cpu.identity().name,
                 !energy  ? to_string(energy.failure())
                 : memory ? "energy of the package and of its memory"
                          : "energy of the package");
}

}  // namespace

std::string to_text(const DeviceReport& report, bool in_colour) {
  std::string text = inked("GPUs", Ink::bold, in_colour) + "\n";
  for (const std::size_t index : as_numbered(report.inventory)) {
    add_gpu(report, index, in_colour, text);
  }
  text += report.inventory.gpus.empty() ? "  none\n" : "";
  text += inked("CPU packages", Ink::bold, in_colour) + "\n";
  for (const auto& cpu : report.inventory.cpus) {
    add_cpu(*cpu, text);
  }
  text += report.inventory.cpus.empty() ? "  none\n" : "";
  text += report.problems.empty() ? "" : inked("Problems", Ink::red, in_colour) + "\n";
  for (const DeviceProblem& problem : report.problems) {
    fmt::format_to(std::back_inserter(text), "  {}: {}\n    fix: {}\n", inked(problem.device, Ink::red, in_colour),
                   problem.what, problem.fix);
  }
  return text;
}

}  // namespace zeus::cli
