#include "tests/run/shown_job.hpp"

#include "records/json_reader.hpp"

#include <functional>
#include <string>

namespace zeus::truth {

namespace {

using records::JsonFields;
using records::JsonPlace;
using records::JsonValue;

void read_each(const JsonValue& job, const JsonPlace& place, std::string_view key,
               const std::function<void(JsonFields&, const JsonValue&)>& read) {
  for (const JsonValue& one : *job[key].list()) {
    JsonFields fields{one, place};
    read(fields, one);
  }
}

// Why an object's member is null.
std::string reason(const JsonValue& object, std::string_view key) {
  const JsonValue* const reasons = object.find("reason");
  const JsonValue* const why = reasons == nullptr ? nullptr : reasons->find(key);
  return why == nullptr ? "" : *why->string();
}

records::SavingsView read_savings(const JsonValue& json, const JsonPlace& place) {
  records::SavingsView savings;
  JsonFields fields{json, place};
  fields("energy", savings.energy);
  fields("energy_uncertainty", savings.energy_uncertainty);
  fields("cost", savings.cost);
  fields("cost_uncertainty", savings.cost_uncertainty);
  return savings;
}

}  // namespace

records::JobView read_shown_job(std::string_view json) {
  const records::JsonForm form{.refusal = "this is not a job as `zeus jobs` shows it"};
  const JsonPlace place{form};
  const std::optional<JsonValue> read = JsonValue::parse(json);
  if (!read) {
    place.refuse_as(form.not_json);
  }
  const JsonValue& job = *read;
  records::JobView view;
  JsonFields{job, place}("device", view.device);
  read_each(job, place, "recurrences", [&](JsonFields& fields, const JsonValue&) {
    records::RecurrenceView& one = view.recurrences.emplace_back();
    fields("state", one.state);
    fields("why", one.reason);
    fields("energy", one.energy);
    fields("uncertainty", one.uncertainty);
    fields("cost", one.cost);
    fields("default_cost", one.default_cost);
    fields("default_cost_uncertainty", one.default_cost_uncertainty);
  });
  read_each(job, place, "tries", [&](JsonFields& fields, const JsonValue&) {
    records::TryView& one = view.tries.emplace_back();
    fields("batch_size", one.batch_size);
    fields("limit", one.limit);
  });
  read_each(job, place, "batch_sizes", [&](JsonFields& fields, const JsonValue& json_of_arm) {
    records::ArmView& one = view.arms.emplace_back();
    fields("batch_size", one.batch_size);
    fields("default", one.is_default);
    fields("expected_cost", one.expected_cost);
    fields("low_cost", one.low_cost);
    fields("high_cost", one.high_cost);
    fields("best_limit", one.best_limit);
    one.limits.resize(json_of_arm["limits"].size());
  });
  if (const JsonValue& savings = job["savings"]; !savings.is_null()) {
    view.savings = read_savings(savings, place);
  }
  view.savings_unknown = reason(job, "savings");
  return view;
}

}  // namespace zeus::truth
