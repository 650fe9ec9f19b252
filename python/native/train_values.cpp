#include "train_values.hpp"

namespace zeus::python {

namespace {

template <typename Quantity>
py::object number_of(const std::optional<Quantity>& quantity) {
  return quantity ? py::object{py::float_{quantity->value()}} : py::object{py::none()};
}

template <typename Value>
py::object plain_of(const std::optional<Value>& value) {
  return value ? py::cast(*value) : py::object{py::none()};
}

py::dict setting_dict(const PowerSetting& setting) {
  py::dict values;
  values["limit_w"] = setting.limit.value();
  values["clock_mhz"] = number_of(setting.clock);
  return values;
}

py::dict energy_dict(const Energy& energy) {
  py::dict values;
  values["value"] = energy.value.value();
  values["uncertainty"] = energy.uncertainty.value();
  values["systematic"] = number_of(energy.systematic);
  values["method"] = energy.method == EnergyMethod::counter      ? "counter"
                     : energy.method == EnergyMethod::integrated ? "integrated"
                                                                 : "estimate";
  return values;
}

py::object energy_of(const std::optional<Energy>& energy) {
  return energy ? py::object{energy_dict(*energy)} : py::object{py::none()};
}

py::dict epoch_of(const EpochReport& epoch) {
  py::dict values;
  values["number"] = epoch.number;
  values["steps"] = epoch.steps;
  values["time_s"] = epoch.time.value();
  values["steps_time_s"] = epoch.steps_time.value();
  values["energy_j"] = energy_of(epoch.energy);
  values["cost_j"] = number_of(epoch.cost);
  values["metric"] = plain_of(epoch.metric);
  values["profiled"] = epoch.profiled;
  return values;
}

py::object prediction_of(const std::optional<TrainingPrediction>& prediction) {
  if (!prediction) {
    return py::none();
  }
  py::dict values;
  values["setting"] = setting_dict(prediction->setting);
  values["time_s"] = prediction->time.value();
  values["time_uncertainty_s"] = prediction->time_uncertainty.value();
  values["energy_j"] = energy_dict(prediction->energy);
  values["cost_j"] = prediction->cost.value();
  values["cost_uncertainty_j"] = prediction->cost_uncertainty.value();
  return values;
}

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::target_reached:
      return "target_reached";
    case StopReason::epochs_used_up:
      return "epochs_used_up";
    case StopReason::too_dear:
      break;
  }
  return "too_dear";
}

py::dict named(const char* event) {
  py::dict values;
  values["event"] = event;
  return values;
}

struct EventValues {
  py::dict operator()(const ProfilingBegun& event) const {
    py::dict values = named("ProfilingBegun");
    values["batch_size"] = plain_of(event.batch_size);
    values["again"] = event.again;
    return values;
  }
  py::dict operator()(const SettingApplied& event) const {
    py::dict values = named("SettingApplied");
    values["setting"] = setting_dict(event.setting);
    values["enforced_w"] = number_of(event.enforced);
    values["optimum"] = event.optimum;
    return values;
  }
  py::dict operator()(const SettingsRestored& /*event*/) const { return named("SettingsRestored"); }
  py::dict operator()(const SettingRefused& event) const {
    py::dict values = named("SettingRefused");
    values["setting"] = setting_dict(event.setting);
    values["why"] = event.why;
    return values;
  }
  py::dict operator()(const SliceMeasured& event) const {
    py::dict values = named("SliceMeasured");
    values["setting"] = setting_dict(event.setting);
    values["steps"] = event.steps;
    values["time_s"] = event.time.value();
    values["energy_j"] = energy_dict(event.energy);
    values["capped"] = plain_of(event.capped);
    return values;
  }
  py::dict operator()(const SliceLost& event) const {
    py::dict values = named("SliceLost");
    values["setting"] = setting_dict(event.setting);
    values["why"] = event.why;
    return values;
  }
  py::dict operator()(const ProfilingDone& event) const {
    py::dict values = named("ProfilingDone");
    values["optimum"] = setting_of(event.optimum);
    values["steps"] = event.steps;
    values["profile"] = profile_of(event.profile);
    return values;
  }
  py::dict operator()(const Unoptimized& event) const {
    py::dict values = named("Unoptimized");
    values["why"] = event.why;
    return values;
  }
  py::dict operator()(const EpochEnded& event) const {
    py::dict values = named("EpochEnded");
    values["epoch"] = epoch_of(event.epoch);
    return values;
  }
  py::dict operator()(const TrainingStopped& event) const {
    py::dict values = named("TrainingStopped");
    values["reason"] = name_of(event.reason);
    values["cost_j"] = event.cost.value();
    values["next_epoch_j"] = event.next_epoch.value();
    return values;
  }
};

}  // namespace

py::dict event_of(const TrainingEvent& event) {
  return std::visit(EventValues{}, event);
}

py::object setting_of(const std::optional<PowerSetting>& setting) {
  return setting ? py::object{setting_dict(*setting)} : py::object{py::none()};
}

py::object reason_of(const std::optional<StopReason>& reason) {
  return reason ? py::object{py::str{name_of(*reason)}} : py::object{py::none()};
}

py::dict profile_of(const PowerProfile& profile) {
  py::list measurements;
  for (const PowerMeasurement& measured : profile.measurements) {
    py::dict values;
    values["setting"] = setting_dict(measured.setting);
    values["steps"] = measured.steps;
    values["step_time_s"] = measured.step_time.value();
    values["step_time_uncertainty_s"] = measured.step_time_uncertainty.value();
    values["step_energy_j"] = energy_dict(measured.step_energy);
    values["capped"] = plain_of(measured.capped);
    measurements.append(values);
  }
  py::dict values;
  values["gpu"] = profile.gpu;
  values["gpus"] = profile.gpus;
  values["batch_size"] = plain_of(profile.batch_size);
  values["complete"] = profile.complete;
  values["measurements"] = measurements;
  return values;
}

py::dict result_of(const TrainingResult& result) {
  py::list epochs;
  for (const EpochReport& epoch : result.epochs) {
    epochs.append(epoch_of(epoch));
  }
  py::dict values;
  values["stopped_by"] = reason_of(result.stopped_by);
  values["epochs"] = epochs;
  values["time_s"] = result.time.value();
  values["energy_j"] = energy_of(result.energy);
  values["cost_j"] = number_of(result.cost);
  values["eta"] = result.eta;
  values["max_power_w"] = result.max_power.value();
  values["gpus"] = result.gpus;
  values["metric"] = plain_of(result.metric);
  values["profiling_steps"] = result.profiling_steps;
  values["profiling_time_s"] = result.profiling_time.value();
  values["optimum"] = setting_of(result.optimum);
  values["applied"] = result.applied;
  values["profile"] = profile_of(result.profile);
  values["prediction"] = prediction_of(result.prediction);
  values["no_prediction"] = result.no_prediction;
  values["unoptimized"] = result.unoptimized;
  return values;
}

}  // namespace zeus::python
