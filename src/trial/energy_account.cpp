#include "trial/energy_account.hpp"

#include "records/energy.hpp"

#include <algorithm>
#include <utility>

namespace zeus::trial {

EnergyAccount::EnergyAccount(Meter& meter, std::string_view name)
    : meter_{meter}, whole_window_{name}, part_window_{whole_window_ + ".part"} {
  meter_.begin(whole_window_);
  meter_.begin(part_window_);
}

EnergyAccount::~EnergyAccount() {
  if (open_) {
    meter_.cancel(part_window_);
    meter_.cancel(whole_window_);
  }
}

const EnergyAccount::Taken& EnergyAccount::look() {
  if (!open_) {
    return so_far_;
  }
  const Taken since = meter_.end(part_window_);
  meter_.begin(part_window_);
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
    meter_.cancel(part_window_);
    so_far_ = meter_.settle(whole_window_);
  }
  return so_far_;
}

}  // namespace zeus::trial
