// A frequency plan for one iteration of pipeline training, as a file: what `zeus pipeline` prints and a training loop's
// optimizer follows. Plain values; copy them freely between threads.
#pragma once

#include "records/json_reader.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct PlannedInstruction {
  std::string name;     // the training loop's name for it: "forward"
  Megahertz frequency;  // to lock while it runs; 0 leaves the clock as it is
  friend bool operator==(const PlannedInstruction&, const PlannedInstruction&) = default;
};

// Planned instructions by pipeline rank, in the order in which the rank runs them; all data- and tensor-parallel copies
// of a rank do the same.
using PlannedRanks = std::vector<std::vector<PlannedInstruction>>;

struct PipelinePlan {
  Seconds time;   // of one iteration
  Joules energy;  // of all GPUs in one iteration, including blocking
  PlannedRanks frequencies;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("time", self.time, field::from_zero);
    fields("energy", self.energy, field::from_zero);
    fields("frequencies", self.frequencies);
  }
  friend bool operator==(const PipelinePlan&, const PipelinePlan&) = default;
};

// ["forward",1410], in a list for each rank.
void write_json(JsonWriter& json, const PlannedInstruction& instruction);
JsonSchema json_schema_of(const PlannedInstruction* type);
void read_json(const JsonValue& json, const JsonPlace& place, PlannedRanks& ranks);

// {"time_s":..,"energy_j":..,"frequencies":[[["forward",1410],["backward",1350],..],..]}, on one line.
std::string to_json(const PipelinePlan& plan);

// Reads a plan back. Also takes the whole output of `zeus pipeline --json` if it has exactly one plan. Anything else is
// a corrupt_data Error that says where the mistake is.
PipelinePlan pipeline_plan_from_json(std::string_view text);

}  // namespace zeus::records
