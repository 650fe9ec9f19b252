// Puts a power setting into force on the GPUs of this process, and says how that ended instead of throwing. The
// training's thread.
#pragma once

#include "records/power_setting.hpp"
#include "train/gpu_group.hpp"
#include "train/joining.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>

namespace zeus::train {

// Stands for "as found", which need not be the same limit on every GPU.
inline const records::PowerSetting as_found{};

// `status` goes from the best to the worst. Over several ranks, the worst counts.
struct SettingOutcome {
  enum class Status { done, refused, lease_lost, hopeless };
  Status status = Status::done;
  std::string why;                // in this rank
  std::optional<Watts> enforced;  // here
  bool lessor_away = false;       // here

  void joined(Joining& join) { join.largest(status); }
};

[[nodiscard]] SettingOutcome put_into_force(GpuGroup& group, const records::PowerSetting& setting);

}  // namespace zeus::train
