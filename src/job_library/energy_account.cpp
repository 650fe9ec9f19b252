#include "job_library/energy_account.hpp"

#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <utility>

namespace zeus::job_library {

namespace {

constexpr const char* whole = "zeus.job.training";
constexpr const char* part_window = "zeus.job.part";
constexpr Seconds settling{1};

}  // namespace

EnergyAccount::EnergyAccount(Monitor& monitor, const std::map<int, std::string>& uuids)
    : monitor_{monitor}, uuids_{uuids} {
  monitor_.begin(whole, true);
  monitor_.begin(part_window, true);
}

EnergyAccount::~EnergyAccount() {
  if (!open_) {
    return;
  }
  try {
    monitor_.cancel(part_window);
    monitor_.cancel(whole);
  } catch (const Error&) {
    // A window that cannot be cancelled goes with the monitor.
    return;
  }
}

EnergyAccount::Taken EnergyAccount::taken(const Measurement& measurement) const {
  Taken taken{.gpus = {}, .time = measurement.time(), .unknown = {}};
  for (const auto& [index, measured] : measurement.gpu_energy) {
    if (measured.energy) {
      taken.gpus.push_back({.gpu = uuids_.at(index), .energy = *measured.energy});
    } else {
      taken.unknown = measured.reason;
    }
  }
  return taken;
}

const EnergyAccount::Taken& EnergyAccount::look() {
  if (!open_) {
    return so_far_;
  }
  const Taken since = taken(monitor_.end(part_window));
  monitor_.begin(part_window, true);
  so_far_.time += since.time;
  so_far_.unknown = so_far_.unknown.empty() ? since.unknown : so_far_.unknown;
  for (const records::GpuEnergy& one : since.gpus) {
    const auto known = std::ranges::find(so_far_.gpus, one.gpu, &records::GpuEnergy::gpu);
    if (known == so_far_.gpus.end()) {
      so_far_.gpus.push_back(one);
    } else {
      // Neighbouring windows share an edge, whose error cancels. Adding as if it did not overstates the uncertainty.
      known->energy = known->energy + one.energy;
    }
  }
  return so_far_;
}

const EnergyAccount::Taken& EnergyAccount::close() {
  if (std::exchange(open_, false)) {
    monitor_.cancel(part_window);
    so_far_ = taken(monitor_.settle(monitor_.end(whole), settling));
  }
  return so_far_;
}

}  // namespace zeus::job_library
