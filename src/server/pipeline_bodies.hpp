// The bodies that pipelined trainings send and receive, as the existing package's clients have them: a training and
// its ranks register, and each rank gets the clocks of its instructions. Plain values; any thread.
#pragma once

#include "records/json_reader.hpp"
#include "records/json_schema.hpp"
#include "records/pipeline_plan.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::server {

inline constexpr double most_ranks = 100'000;

// A training and its shape.
struct PipelineJob {
  std::string job_id;  // empty: the server makes one
  std::uint32_t pp_degree = 1;
  std::uint32_t dp_degree = 1;
  std::uint32_t tp_degree = 1;
  std::uint32_t world_size = 1;             // the product of the three
  std::optional<std::string> job_metadata;  // for people: part of the ID

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    const field::Rule degree{.least = 1.0, .most = most_ranks};
    fields("job_id", self.job_id);
    fields("pp_degree", self.pp_degree, degree);
    fields("dp_degree", self.dp_degree, degree);
    fields("tp_degree", self.tp_degree, degree);
    fields("world_size", self.world_size, degree);
    fields("job_metadata", self.job_metadata);
  }
};

// One rank, its place, and the clocks in MHz that its GPU can be locked to.
struct PipelineRank {
  std::uint32_t rank = 0;
  std::uint32_t dp_rank = 0;
  std::uint32_t pp_rank = 0;
  std::uint32_t tp_rank = 0;
  std::vector<std::uint32_t> available_frequencies;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    const field::Rule place{.least = 0.0, .most = most_ranks - 1};
    fields("rank", self.rank, place);
    fields("dp_rank", self.dp_rank, place);
    fields("pp_rank", self.pp_rank, place);
    fields("tp_rank", self.tp_rank, place);
    fields("available_frequencies", self.available_frequencies);
  }
};

// What a rank runs in an iteration, in order, each with its clock in MHz; 0 leaves it as it is.
struct FrequencySchedule {
  std::uint32_t rank = 0;
  std::vector<records::PlannedInstruction> frequencies;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("rank", self.rank);
    fields("frequencies", self.frequencies);
  }
};

// For each instruction, a list for each iteration with each of its runs; only checked, since the plan stands.
struct InstructionFigures {};

inline void read_json(const records::JsonValue& json, const records::JsonPlace& place, InstructionFigures& /*none*/) {
  for (const records::JsonValue::Member& member : records::read_object(json, place)) {
    std::vector<std::vector<double>> figures;
    records::read_value(member.value, place.at(member.key), figures);
  }
}

inline records::JsonSchema json_schema_of(const InstructionFigures* /*type*/) {
  return {.kind = records::JsonSchema::Kind::map, .of = records::shared_schema<std::vector<std::vector<double>>>()};
}

// What a rank measured of iterations under its schedule.
struct ProfilingResult {
  std::uint32_t rank = 0;
  std::vector<double> iter_time;
  std::vector<double> iter_energy;
  InstructionFigures time_breakdown;
  InstructionFigures energy_breakdown;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("rank", self.rank, field::Rule{.least = 0.0, .most = most_ranks - 1});
    fields("iter_time", self.iter_time, field::from_zero);
    fields("iter_energy", self.iter_energy, field::from_zero);
    fields("time_breakdown", self.time_breakdown);
    fields("energy_breakdown", self.energy_breakdown);
  }
};

// The plan that this server's trainings follow.
struct PlanSummary {
  std::string version;                         // of this server
  std::optional<std::uint32_t> planned_ranks;  // ranks, or stages, that the plan has; nothing if there is no plan

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("version", self.version);
    fields("planned_ranks", self.planned_ranks);
  }
};

}  // namespace zeus::server
