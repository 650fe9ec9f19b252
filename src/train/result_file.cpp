#include "train/result_file.hpp"

#include "base/file_tree.hpp"
#include "records/energy.hpp"
#include "records/power_profile.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace zeus::train {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<Energy>& energy) {
  return energy ? Json::parse(records::to_json(*energy)) : Json();
}

template <typename Quantity>
Json json_of(const std::optional<Quantity>& quantity) {
  return quantity ? Json(quantity->value()) : Json();
}

Json json_of(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json json_of(const std::optional<PowerSetting>& setting) {
  if (!setting) {
    return {};
  }
  Json object;
  object["limit_w"] = setting->limit.value();
  object["clock_mhz"] = json_of(setting->clock);
  return object;
}

Json json_of(const EpochReport& epoch) {
  Json object;
  object["number"] = epoch.number;
  object["steps"] = epoch.steps;
  object["time_s"] = epoch.time.value();
  object["steps_time_s"] = epoch.steps_time.value();
  object["energy_j"] = json_of(epoch.energy);
  object["cost_j"] = json_of(epoch.cost);
  object["metric"] = json_of(epoch.metric);
  object["profiled"] = epoch.profiled;
  return object;
}

Json json_of(const std::optional<TrainingPrediction>& prediction) {
  if (!prediction) {
    return {};
  }
  Json object;
  object["setting"] = json_of(std::optional{prediction->setting});
  object["time_s"] = prediction->time.value();
  object["time_uncertainty_s"] = prediction->time_uncertainty.value();
  object["energy_j"] = json_of(std::optional{prediction->energy});
  object["cost_j"] = prediction->cost.value();
  object["cost_uncertainty_j"] = prediction->cost_uncertainty.value();
  return object;
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::target_reached:
      return "target reached";
    case StopReason::epochs_used_up:
      return "epochs used up";
    case StopReason::too_dear:
      return "too dear";
  }
  return "unknown";
}

std::string to_json(const TrainingResult& result) {
  Json object;
  object["format"] = "zeus training result";
  object["version"] = 1;
  object["reached"] = result.reached();
  object["stopped_by"] = result.stopped_by ? Json(to_string(*result.stopped_by)) : Json();
  object["time_s"] = result.time.value();
  object["energy_j"] = json_of(result.energy);
  object["cost_j"] = json_of(result.cost);
  object["eta"] = result.eta;
  object["max_power_w"] = result.max_power.value();
  object["gpus"] = result.gpus;
  object["metric"] = json_of(result.metric);
  object["optimum"] = json_of(result.optimum);
  object["applied"] = result.applied;
  object["profiling_steps"] = result.profiling_steps;
  object["profiling_time_s"] = result.profiling_time.value();
  object["unoptimized"] = result.unoptimized;
  object["prediction"] = json_of(result.prediction);
  object["no_prediction"] = result.no_prediction;
  object["epochs"] = Json::array();
  for (const EpochReport& epoch : result.epochs) {
    object["epochs"].push_back(json_of(epoch));
  }
  object["profile"] = Json::parse(records::to_json(result.profile));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_result(const std::filesystem::path& file, const TrainingResult& result) {
  const std::filesystem::path whole = std::filesystem::absolute(file);
  FileTree{whole.parent_path()}.write_durably(whole.filename().string(), to_json(result));
}

}  // namespace zeus::train
