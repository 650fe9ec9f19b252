#include "trial/energy_account.hpp"

#include "records/energy.hpp"

#include <algorithm>
#include <utility>

namespace zeus::trial {

namespace {

constexpr std::string_view whole_window = "zeus.trial.training";
constexpr std::string_view part_window = "zeus.trial.part";

}  // namespace

EnergyAccount::EnergyAccount(Meter& meter) : meter_{meter} {
  meter_.begin(whole_window);
  meter_.begin(part_window);
}

EnergyAccount::~EnergyAccount() {
  if (open_) {
    meter_.cancel(part_window);
    meter_.cancel(whole_window);
  }
}

const EnergyAccount::Taken& EnergyAccount::look() {
  if (!open_) {
    return so_far_;
  }
  const Taken since = meter_.end(part_window);
  meter_.begin(part_window);
  so_far_.time += since.time;
  so_far_.unknown = so_far_.unknown.empty() ? since.unknown : so_far_.unknown;
  for (const records::GpuEnergy& one : since.gpus) {
    const auto known = std::ranges::find(so_far_.gpus, one.gpu, &records::GpuEnergy::gpu);
    if (known == so_far_.gpus.end()) {
      so_far_.gpus.push_back(one);
    } else {
      // Neighbouring windows share an edge, whose error cancels. Adding as if it did not overstates the uncertainty.
      known->energy = in_turn(known->energy, one.energy);
    }
  }
  return so_far_;
}

const EnergyAccount::Taken& EnergyAccount::close() {
  if (std::exchange(open_, false)) {
    meter_.cancel(part_window);
    so_far_ = meter_.settle(whole_window);
  }
  return so_far_;
}

}  // namespace zeus::trial
