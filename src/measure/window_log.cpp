#include "measure/window_log.hpp"

#include "base/log.hpp"
#include "measure/fork_guard.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace zeus::measure {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string result{'"'};
  for (const char c : text) {
    result += c;
    if (c == '"') {
      result += c;
    }
  }
  return result + '"';
}

std::string_view method_name(EnergyMethod method) {
  switch (method) {
    case EnergyMethod::counter:
      return "counter";
    case EnergyMethod::integrated:
      return "integrated";
    case EnergyMethod::estimate:
      break;
  }
  return "estimate";
}

// An unknown energy is an empty cell here. number_cell() is for tools that read every cell as a number.
std::string value_cell(const MeasuredEnergy& measured) {
  return measured.energy ? fmt::format(",{}", measured.energy->value.value()) : ",";
}

std::string number_cell(const MeasuredEnergy& measured) {
  return measured.energy ? value_cell(measured) : ",nan";
}

std::string doubt_cells(const MeasuredEnergy& measured) {
  return measured.energy
             ? fmt::format(",{},{}", measured.energy->uncertainty.value(), method_name(measured.energy->method))
             : ",,";
}

std::string seconds_cell(const std::optional<Seconds>& seconds) {
  return seconds ? fmt::format(",{}", seconds->value()) : ",";
}

template <typename Map, typename Cells>
std::string cells_of(const Map& map, int index, const Cells& cells) {
  const auto found = map.find(index);
  return cells(found == map.end() ? typename Map::mapped_type{} : found->second);
}

}  // namespace

WindowLog::WindowLog(std::filesystem::path file, LogForm form, std::vector<int> gpus, std::vector<int> cpus)
    : path_{std::move(file)},
      form_{form},
      gpus_{std::move(gpus)},
      cpus_{std::move(cpus)},
      opened_after_forks_{fork_count()} {
  std::error_code ignored;
  if (path_.has_parent_path()) {
    std::filesystem::create_directories(path_.parent_path(), ignored);
  }
  file_ = FileDescriptor{::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)};
  if (!file_ || !append(header())) {
    throw system_failure(errno, fmt::format("cannot write the log {}", path_.string()));
  }
}

std::string WindowLog::header() const {
  std::string line = "start_time,window_name,elapsed_time";
  for (const int gpu : gpus_) {
    line += fmt::format(",gpu{}_energy", gpu);
    if (form_ == LogForm::complete) {
      line += fmt::format(",gpu{0}_uncertainty,gpu{0}_method,gpu{0}_power_capped_time,gpu{0}_thermal_time", gpu);
    }
  }
  if (form_ == LogForm::complete) {
    for (const int cpu : cpus_) {
      line += fmt::format(
          ",cpu{0}_energy,cpu{0}_uncertainty,cpu{0}_method,dram{0}_energy,dram{0}_uncertainty,dram{0}_method", cpu);
    }
  } else if (gpus_.empty()) {
    line += ',';
  }
  return line + '\n';
}

std::string WindowLog::row(const Measurement& measurement) const {
  std::string line =
      fmt::format("{:.6f},{},{}", measurement.start_wall, quoted(measurement.window), measurement.time().value());
  const bool complete = form_ == LogForm::complete;
  for (const int gpu : gpus_) {
    line += cells_of(measurement.gpu_energy, gpu, complete ? value_cell : number_cell);
    if (complete) {
      line += cells_of(measurement.gpu_energy, gpu, doubt_cells);
      line += cells_of(measurement.gpu_throttle, gpu, [](const ThrottleTime& throttle) {
        return seconds_cell(throttle.power_cap) + seconds_cell(throttle.thermal);
      });
    }
  }
  if (complete) {
    for (const int cpu : cpus_) {
      for (const auto* const energies : {&measurement.cpu_energy, &measurement.dram_energy}) {
        line += cells_of(*energies, cpu, value_cell) + cells_of(*energies, cpu, doubt_cells);
      }
    }
  } else if (gpus_.empty()) {
    line += ',';
  }
  return line + '\n';
}

bool WindowLog::append(const std::string& line) {
  struct stat before {};
  const bool sized = ::fstat(file_.get(), &before) == 0 && S_ISREG(before.st_mode);
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) {
    return true;
  }
  const int error = written < 0 ? errno : ENOSPC;
  if (written > 0 && sized) {
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), before.st_size);
  }
  errno = error;
  return false;
}

void WindowLog::add(const Measurement& measurement) {
  if (opened_after_forks_ != fork_count()) {
    return;
  }
  if (append(row(measurement))) {
    failed_ = false;
  } else if (!failed_) {
    failed_ = true;
    log::error(system_failure(errno, fmt::format("the log {} lacks window \"{}\" and perhaps others after it",
                                                 path_.string(), measurement.window))
                   .what());
  }
}

}  // namespace zeus::measure
