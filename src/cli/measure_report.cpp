#include "cli/measure_report.hpp"

#include "base/amount_text.hpp"
#include "cli/command.hpp"
#include "cli/repeated_runs.hpp"
#include "records/energy.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace zeus::cli {

namespace {

// An unknown energy is null; its reason stands under its name at the end of the object.
void put_energies(records::JsonWriter& json, std::string_view key, const std::map<int, MeasuredEnergy>& energies) {
  json.put(key, [&] {
    for (const auto& [index, measured] : energies) {
      json.put(std::to_string(index), measured.energy);
    }
  });
  for (const auto& [index, measured] : energies) {
    if (!measured.energy) {
      json.because(fmt::format("{}.{}", key, index), measured.reason);
    }
  }
}

std::string label_of(int number, const GpusByNumber& gpus) {
  return fmt::format("gpu {} ({})", number, gpus.at(static_cast<std::size_t>(number)).name);
}

// Wide enough for the name of every GPU in the table.
std::size_t label_width(const Measurement& measurement, const GpusByNumber& gpus) {
  std::size_t width = 16;
  for (const auto& [gpu, measured] : measurement.gpu_energy) {
    width = std::max(width, label_of(gpu, gpus).size());
  }
  return width;
}

// An amount, what it is of, and a remark on it.
std::string line(const std::string& amount, const std::string& what, std::size_t width, const std::string& remark) {
  return fmt::format("{:>24}   {:<{}}   {}\n", amount, what, width, remark);
}

// What the interval leaves out.
std::string calibration_text(const std::optional<Joules>& bound) {
  return bound ? fmt::format("calibration ± {}", to_text(*bound)) : "calibration unknown";
}

// `is_total`: the one number that stands for the command.
std::string line(const std::string& what, std::size_t width, const MeasuredEnergy& measured, Seconds time,
                 bool is_total = false) {
  if (!measured.energy) {
    return line("unknown", what, width, measured.reason);
  }
  const Energy& energy = *measured.energy;
  std::string said{records::to_string(energy.method)};
  if (time > Seconds{0}) {
    const Watts power = energy.value / time;
    said = fmt::format("{} W, {}", certain_digits(power.value(), (energy.uncertainty / time).value()), said);
  }
  if (is_total) {
    said += ", " + calibration_text(energy.systematic);
  }
  const std::string text =
      line(with_interval(energy.value.value(), energy.uncertainty.value(), "J"), what, width, said);
  return measured.remark.empty() ? text : text + line("", "", width, measured.remark);
}

std::string throttle_line(std::size_t width, const ThrottleTime& throttle, Seconds time) {
  std::string text;
  const auto add = [&](const char* what, const std::optional<Seconds>& lasted) {
    if (lasted && time > Seconds{0} && *lasted / time > 0.005) {
      text +=
          fmt::format("{}{:.0f} % of the time held back by {}", text.empty() ? "" : ", ", 100 * (*lasted / time), what);
    }
  };
  add("its power limit (in peaks)", throttle.power_cap);
  add("its temperature", throttle.thermal);
  return text.empty() ? "" : line("", "", width, text);
}

void put_all_energies(records::JsonWriter& json, const Measurement& measurement, const MeasuredEnergy& total,
                      const records::EnergyRates& rates) {
  put_energies(json, "gpu_energy_j", measurement.gpu_energy);
  put_energies(json, "cpu_energy_j", measurement.cpu_energy);
  put_energies(json, "dram_energy_j", measurement.dram_energy);
  json.put("total_gpu_energy_j", total.energy, total.reason);
  records::put_amounts(json, rates, total.energy, total.reason);
}

void put_run(records::JsonWriter& json, const Measurement& measurement, const GpusByNumber& gpus, int exit_code,
             const records::EnergyRates& rates) {
  json.put("start_monotonic_s", measurement.start);
  json.put("end_monotonic_s", measurement.end);
  json.put("time_s", measurement.time());
  json.put("gpus", [&] {
    for (const auto& [gpu, measured] : measurement.gpu_energy) {
      json.put(std::to_string(gpu), [&, &identity = gpus.at(static_cast<std::size_t>(gpu))] {
        json.put("uuid", identity.uuid);
        json.put("name", identity.name);
      });
    }
  });
  put_all_energies(json, measurement, measurement.total_gpu_energy(), rates);
  json.put("exit_code", exit_code);
}

// The energy of all GPUs as money and CO2, below it.
std::string rate_lines(std::size_t width, const MeasuredEnergy& total, const records::EnergyRates& rates) {
  std::string text;
  if (total.energy && rates.price) {
    text += line("", "", width,
                 fmt::format("{}, at {:g} {} per kWh",
                             records::to_text({.price = rates.price}, total.energy->value, total.energy->uncertainty),
                             rates.price->per_kilowatt_hour, rates.price->currency));
  }
  if (total.energy && rates.carbon) {
    text += line("", "", width,
                 fmt::format("{}, at {:g} g per kWh",
                             records::to_text({.carbon = rates.carbon}, total.energy->value, total.energy->uncertainty),
                             rates.carbon->grams_per_kilowatt_hour));
  }
  return text;
}

std::string energy_lines(const Measurement& measurement, const GpusByNumber& gpus, const MeasuredEnergy& total,
                         const records::EnergyRates& rates) {
  const Seconds time = measurement.time();
  const std::size_t width = label_width(measurement, gpus);
  std::string text;
  for (const auto& [gpu, measured] : measurement.gpu_energy) {
    text += line(label_of(gpu, gpus), width, measured, time, measurement.gpu_energy.size() == 1);
    if (const auto throttle = measurement.gpu_throttle.find(gpu); throttle != measurement.gpu_throttle.end()) {
      text += throttle_line(width, throttle->second, time);
    }
  }
  if (measurement.gpu_energy.size() > 1) {
    text += line("all gpus", width, total, time, true);
  }
  text += rate_lines(width, total, rates);
  for (const auto& [cpu, measured] : measurement.cpu_energy) {
    text += line(fmt::format("cpu {}", cpu), width, measured, time);
  }
  for (const auto& [cpu, measured] : measurement.dram_energy) {
    text += line(fmt::format("memory of cpu {}", cpu), width, measured, time);
  }
  if (measurement.gpu_energy.empty() && measurement.cpu_energy.empty()) {
    text += "   no GPU and no CPU that counts its energy can be seen; `zeus doctor` says why\n";
  }
  return text;
}

}  // namespace

std::string measure_json(const Measurement& measurement, const GpusByNumber& gpus, int exit_code,
                         const records::EnergyRates& rates) {
  records::JsonWriter json;
  json.object([&] { put_run(json, measurement, gpus, exit_code, rates); });
  return json.take();
}

std::string measure_json(std::span<const Measurement> runs, const GpusByNumber& gpus, int exit_code,
                         const records::EnergyRates& rates) {
  records::JsonWriter json;
  json.object([&] {
    json.put_list("runs", runs,
                  [&](const Measurement& run) { json.object([&] { put_run(json, run, gpus, exit_ok, rates); }); });
    if (runs.size() < 2) {
      json.put_unknown("mean", "fewer than two runs ended well");
    } else {
      json.put("mean", [&, all = repeated(runs)] {
        json.put("time_s", all.mean.time());
        json.put("time_uncertainty_s", all.time_uncertainty);
        put_all_energies(json, all.mean, all.total_gpu_energy, rates);
      });
    }
    json.put("exit_code", exit_code);
  });
  return json.take();
}

std::string measure_text(const Measurement& measurement, const GpusByNumber& gpus, const std::string& command,
                         const records::EnergyRates& rates) {
  return fmt::format("\n Energy while '{}' ran:\n\n", command) +
         energy_lines(measurement, gpus, measurement.total_gpu_energy(), rates) +
         fmt::format("\n{:>22.3f} s   elapsed\n\n", measurement.time().value());
}

std::string measure_text(std::span<const Measurement> runs, const GpusByNumber& gpus, const std::string& command,
                         const records::EnergyRates& rates) {
  const RepeatedRuns all = repeated(runs);
  return fmt::format("\n Energy while '{}' ran, the mean of {} runs:\n\n", command, all.count) +
         energy_lines(all.mean, gpus, all.total_gpu_energy, rates) +
         fmt::format("\n{:>24}   elapsed\n\n",
                     with_interval(all.mean.time().value(), all.time_uncertainty.value(), "s"));
}

}  // namespace zeus::cli
