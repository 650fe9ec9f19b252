#include "records/pipeline_plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <memory>

namespace zeus::records {

namespace {

constexpr JsonForm plan_form{
    .refusal = "this is not a frequency plan",
    .advice =
        R"(expected {"time_s":S,"energy_j":J,"frequencies":[[["forward",MHz],...],...]}, as `zeus pipeline --at T --json` prints)"};

PlannedInstruction instruction_from(const JsonValue& value, const JsonPlace& place, std::size_t rank,
                                    std::size_t index) {
  if (value.list() == nullptr || value.size() != 2 || value[0].string() == nullptr) {
    place.refuse_as(fmt::format("instruction {} of rank {} is not a pair of a name and a frequency", index, rank));
  }
  const std::optional<double> frequency = value[1].number();
  if (!frequency || *frequency < 0.0) {
    place.refuse_as(fmt::format("the frequency of instruction {} of rank {} is not a number from 0", index, rank));
  }
  return {.name = *value[0].string(), .frequency = Megahertz{*frequency}};
}

// Ignores what `zeus pipeline` prints beside the plan.
PipelinePlan plan_from(const JsonValue& json) {
  const JsonPlace place{plan_form};
  for (const char* key : {"time_s", "energy_j", "frequencies"}) {
    if (json.find(key) == nullptr) {
      place.refuse_as(fmt::format("it has no \"{}\"", key));
    }
  }
  PipelinePlan plan;
  JsonFields fields{json, place};
  PipelinePlan::describe(fields, plan);
  return plan;
}

}  // namespace

// Frequencies are whole megahertz if the driver's are.
void write_json(JsonWriter& json, const PlannedInstruction& instruction) {
  const double frequency = instruction.frequency.value();
  json.tuple([&] {
    json.value(instruction.name);
    if (frequency == std::floor(frequency) && frequency < 1e9) {
      json.value(static_cast<long>(frequency));
    } else {
      json.value(frequency);
    }
  });
}

JsonSchema json_schema_of(const PlannedInstruction* /*type*/) {
  JsonSchema schema{.kind = JsonSchema::Kind::tuple};
  schema.kinds = {shared_schema<std::string>(),
                  std::make_shared<const JsonSchema>(json_schema<double>(field::from_zero))};
  return schema;
}

void read_json(const JsonValue& json, const JsonPlace& place, PlannedRanks& ranks) {
  if (json.list() == nullptr || json.size() == 0) {
    place.refuse_as("\"frequencies\" is not a list with a list for each pipeline rank");
  }
  ranks.clear();
  for (std::size_t rank = 0; rank < json.size(); ++rank) {
    if (json[rank].list() == nullptr) {
      place.refuse_as(fmt::format("the frequencies of rank {} are not a list", rank));
    }
    std::vector<PlannedInstruction>& instructions = ranks.emplace_back();
    for (std::size_t index = 0; index < json[rank].size(); ++index) {
      instructions.push_back(instruction_from(json[rank][index], place, rank, index));
    }
  }
}

std::string to_json(const PipelinePlan& plan) {
  return json_line(plan);
}

PipelinePlan pipeline_plan_from_json(std::string_view text) {
  const JsonValue document = parse_json(text, plan_form);
  const JsonValue* const plans = document.find("plans");
  if (plans == nullptr) {
    return plan_from(document);
  }
  if (plans->list() == nullptr || plans->size() != 1) {
    JsonPlace{plan_form}.refuse_as("\"plans\" does not have exactly one plan, so it is unclear which to follow");
  }
  return plan_from((*plans)[0]);
}

}  // namespace zeus::records
