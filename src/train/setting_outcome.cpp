#include "train/setting_outcome.hpp"

#include "control/lessor.hpp"

#include <zeus/error.hpp>

#include <exception>

namespace zeus::train {

SettingOutcome put_into_force(GpuGroup& group, const records::PowerSetting& setting) {
  using enum SettingOutcome::Status;
  try {
    if (setting == as_found) {
      group.restore();
      return {};
    }
    group.lease();
  } catch (const control::LessorAway& error) {
    return {.status = lease_lost, .why = error.message(), .enforced = {}, .lessor_away = true};
  } catch (const std::exception& error) {
    return {.status = hopeless, .why = error.what(), .enforced = {}};
  }
  try {
    return {.status = done, .why = {}, .enforced = group.apply(setting)};
  } catch (const control::LessorAway& error) {
    return {.status = lease_lost, .why = error.message(), .enforced = {}, .lessor_away = true};
  } catch (const Error& error) {
    const ErrorKind kind = error.kind();
    // On a conflict, a process that borrowed the leases from this one sets the GPUs, and may keep the leases.
    const bool lost = kind == ErrorKind::timeout || kind == ErrorKind::conflict;
    return {.status = lost                                   ? lease_lost
                      : kind == ErrorKind::permission_denied ? hopeless
                                                             : refused,
            .why = error.what(),
            .enforced = {}};
  }
}

}  // namespace zeus::train
