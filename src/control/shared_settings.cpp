#include "control/shared_settings.hpp"

#include <algorithm>

namespace zeus::control {

Found without(Found values, const Found& kinds) {
  if (kinds.power_limit) {
    values.power_limit.reset();
  }
  std::erase_if(values.clocks, [&](const auto& one) { return kinds.clocks.contains(one.first); });
  if (kinds.persistence_mode) {
    values.persistence_mode.reset();
  }
  return values;
}

Found overlaid(Found below, const Found& above) {
  below = without(std::move(below), above);
  below.power_limit = above.power_limit ? above.power_limit : below.power_limit;
  below.clocks.insert(above.clocks.begin(), above.clocks.end());
  below.persistence_mode = above.persistence_mode ? above.persistence_mode : below.persistence_mode;
  return below;
}

Found only(const Found& values, const Found& kinds) {
  return without(values, without(values, kinds));
}

void SharedSettings::set(std::int64_t share, const Found& setting) {
  for (One& one : all_) {
    if (one.share == share) {
      one.setting = without(std::move(one.setting), setting);
    }
  }
  std::erase_if(all_, [](const One& one) { return one.setting.empty(); });
  all_.push_back({share, setting});
}

void SharedSettings::withdraw(std::int64_t share) {
  std::erase_if(all_, [&](const One& one) { return one.share == share; });
}

Found SharedSettings::of(std::int64_t share) const {
  Found found;
  for (const One& one : all_) {
    if (one.share == share) {
      found = overlaid(std::move(found), one.setting);
    }
  }
  return found;
}

Found SharedSettings::latest() const {
  Found latest;
  for (const One& one : all_) {
    latest = overlaid(std::move(latest), one.setting);
  }
  return latest;
}

}  // namespace zeus::control
