#include "records/pipeline_plan.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>

namespace zeus::records {

namespace {

constexpr std::string_view expected_form =
    R"(expected {"time_s":S,"energy_j":J,"frequencies":[[["forward",MHz],...],...]}, as `zeus pipeline --at T --json` prints)";

[[noreturn]] void refuse(const std::string& what) {
  throw Error{ErrorKind::corrupt_data, "this is not a frequency plan: " + what, std::string{expected_form}};
}

double number_from(const nlohmann::json& value, std::string_view what) {
  if (!value.is_number()) {
    refuse(fmt::format("{} is not a number", what));
  }
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0) {
    refuse(fmt::format("{} is not finite or is negative", what));
  }
  return number;
}

PlannedInstruction instruction_from(const nlohmann::json& value, std::size_t rank, std::size_t place) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_string()) {
    refuse(fmt::format("instruction {} of rank {} is not a pair of a name and a frequency", place, rank));
  }
  return {.name = value[0].get<std::string>(),
          .frequency =
              Megahertz{number_from(value[1], fmt::format("the frequency of instruction {} of rank {}", place, rank))}};
}

// Frequencies are whole megahertz wherever the driver's are.
nlohmann::ordered_json frequency_json(Megahertz frequency) {
  const double value = frequency.value();
  if (value == std::floor(value) && value < 1e9) {
    return static_cast<long>(value);
  }
  return value;
}

PipelinePlan plan_from(const nlohmann::json& object) {
  for (const char* key : {"time_s", "energy_j", "frequencies"}) {
    if (!object.is_object() || !object.contains(key)) {
      refuse(fmt::format("it has no \"{}\"", key));
    }
  }
  PipelinePlan plan{.time = Seconds{number_from(object["time_s"], "time_s")},
                    .energy = Joules{number_from(object["energy_j"], "energy_j")},
                    .frequencies = {}};
  const nlohmann::json& ranks = object["frequencies"];
  if (!ranks.is_array() || ranks.empty()) {
    refuse("\"frequencies\" is not a list with a list for each pipeline rank");
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].is_array()) {
      refuse(fmt::format("the frequencies of rank {} are not a list", rank));
    }
    plan.frequencies.emplace_back();
    for (std::size_t place = 0; place < ranks[rank].size(); ++place) {
      plan.frequencies.back().push_back(instruction_from(ranks[rank][place], rank, place));
    }
  }
  return plan;
}

}  // namespace

std::string to_json(const PipelinePlan& plan) {
  nlohmann::ordered_json object;
  object["time_s"] = plan.time.value();
  object["energy_j"] = plan.energy.value();
  object["frequencies"] = nlohmann::ordered_json::array();
  for (const std::vector<PlannedInstruction>& rank : plan.frequencies) {
    nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
    for (const PlannedInstruction& instruction : rank) {
      pairs.push_back(nlohmann::ordered_json::array({instruction.name, frequency_json(instruction.frequency)}));
    }
    object["frequencies"].push_back(std::move(pairs));
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

PipelinePlan pipeline_plan_from_json(std::string_view text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    refuse("it is not JSON");
  }
  if (!document.is_object() || !document.contains("plans")) {
    return plan_from(document);
  }
  const nlohmann::json& plans = document["plans"];
  if (!plans.is_array() || plans.size() != 1) {
    refuse("\"plans\" does not hold exactly one, so it is open which to follow");
  }
  return plan_from(plans[0]);
}

}  // namespace zeus::records
