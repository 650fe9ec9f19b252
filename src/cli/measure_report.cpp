#include "cli/measure_report.hpp"

#include "records/energy.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zeus::cli {

namespace {

using Json = nlohmann::ordered_json;

// What is not known is null, with its reason under the same name in "reason".
Json form_of(const MeasuredEnergy& measured, const std::string& name, Json& reasons) {
  if (!measured.energy) {
    reasons[name] = measured.reason;
    return nullptr;
  }
  return Json::parse(records::to_json(*measured.energy));
}

Json form_of(const std::map<int, MeasuredEnergy>& energies, const std::string& name, Json& reasons) {
  Json object = Json::object();
  for (const auto& [index, measured] : energies) {
    object[std::to_string(index)] = form_of(measured, fmt::format("{}.{}", name, index), reasons);
  }
  return object;
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  for (auto position = static_cast<int>(digits.find('.')) - 3; position > 0; position -= 3) {
    digits.insert(static_cast<std::size_t>(position), ",");
  }
  return digits;
}

std::string line(const std::string& what, const MeasuredEnergy& measured, Seconds time) {
  if (!measured.energy) {
    return fmt::format("{:>18}      {:<16} # {}\n", "<not known>", what, measured.reason);
  }
  const Energy& energy = *measured.energy;
  std::string text = fmt::format("{:>18} J    {:<16} # {:9.2f} W", grouped(energy.value.value()), what,
                                 time > Seconds{0} ? (energy.value / time).value() : 0.0);
  text += fmt::format("   ( +- {:.2f} J, {} )", energy.uncertainty.value(), records::to_string(energy.method));
  return text + (measured.remark.empty() ? "\n" : "\n" + std::string(40, ' ') + "# " + measured.remark + '\n');
}

std::string throttle_line(int gpu, const ThrottleTime& throttle, Seconds time) {
  std::string text;
  const auto add = [&](const char* what, const std::optional<Seconds>& lasted) {
    if (lasted && time > Seconds{0} && *lasted / time > 0.005) {
      text +=
          fmt::format("{}{:.0f} % of the time held back by {}", text.empty() ? "" : ", ", 100 * (*lasted / time), what);
    }
  };
  add("its power limit", throttle.power_cap);
  add("its temperature", throttle.thermal);
  return text.empty() ? "" : fmt::format("{:>18}      {:<16} # {}\n", "", fmt::format("gpu {}", gpu), text);
}

}  // namespace

std::string measure_json(const Measurement& measurement, int exit_code) {
  Json json = Json::object();
  Json reasons = Json::object();
  json["start_monotonic_s"] = measurement.start.value();
  json["end_monotonic_s"] = measurement.end.value();
  json["time_s"] = measurement.time().value();
  json["gpu_energy_j"] = form_of(measurement.gpu_energy, "gpu_energy_j", reasons);
  json["cpu_energy_j"] = form_of(measurement.cpu_energy, "cpu_energy_j", reasons);
  json["dram_energy_j"] = form_of(measurement.dram_energy, "dram_energy_j", reasons);
  json["total_gpu_energy_j"] = form_of(measurement.total_gpu_energy(), "total_gpu_energy_j", reasons);
  json["exit_code"] = exit_code;
  if (!reasons.empty()) {
    json["reason"] = reasons;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string measure_text(const Measurement& measurement, const std::string& command) {
  const Seconds time = measurement.time();
  std::string text = fmt::format("\n Energy while '{}' ran:\n\n", command);
  for (const auto& [gpu, measured] : measurement.gpu_energy) {
    text += line(fmt::format("gpu {}", gpu), measured, time);
    if (const auto throttle = measurement.gpu_throttle.find(gpu); throttle != measurement.gpu_throttle.end()) {
      text += throttle_line(gpu, throttle->second, time);
    }
  }
  if (measurement.gpu_energy.size() > 1) {
    text += line("all gpus", measurement.total_gpu_energy(), time);
  }
  for (const auto& [cpu, measured] : measurement.cpu_energy) {
    text += line(fmt::format("cpu {}", cpu), measured, time);
  }
  for (const auto& [cpu, measured] : measurement.dram_energy) {
    text += line(fmt::format("memory of cpu {}", cpu), measured, time);
  }
  if (measurement.gpu_energy.empty() && measurement.cpu_energy.empty()) {
    text += "   no GPU and no CPU that counts its energy can be seen; `zeus doctor` says why\n";
  }
  return text + fmt::format("\n{:>18} s    elapsed\n\n", fmt::format("{:.6f}", time.value()));
}

}  // namespace zeus::cli
