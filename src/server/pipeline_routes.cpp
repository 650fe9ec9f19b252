// The routes for pipelined trainings, as the existing package's clients call them, on the same port as ours: a training
// registers, then each of its ranks, which waits until all have and gets the clocks of its instructions. All but
// results, which may be long, run on the loop's thread.

#include "base/clock.hpp"
#include "protocol/jobs_api.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"
#include "server/parameters.hpp"
#include "server/pipeline_bodies.hpp"
#include "server/pipeline_desk.hpp"
#include "server/problem.hpp"
#include "server/route.hpp"
#include "server/service.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::server {

using protocol::Scope;

namespace {

constexpr std::size_t longest_id = 200;
constexpr std::size_t longest_result = std::size_t{16} << 20;

PipelineDesk& desk_of(Service& service) {
  if (service.pipelines == nullptr) {
    throw Refusal{not_found, ErrorKind::not_found, "this server has no plan for pipelines",
                  "start `zeus serve` with --pipeline-plan FILE"};
  }
  return *service.pipelines;
}

PlanSummary describe_plan(Service& service, const Call& /*call*/) {
  PlanSummary summary{.version = service.version, .planned_ranks = {}};
  if (service.pipelines != nullptr) {
    summary.planned_ranks = service.pipelines->planned_ranks();
  }
  return summary;
}

std::string register_pipeline(Service& service, const Call& /*call*/, const PipelineJob& job) {
  const Clock& clock = service.site.clock;
  return desk_of(service).register_job(job, clock.now(), clock.wall());
}

std::optional<std::string> register_rank(Service& service, const Call& call, const PipelineRank& rank) {
  desk_of(service).register_rank(call.text("job_id"), rank, service.site.clock.now());
  return std::nullopt;
}

std::optional<std::string> take_result(Service& service, const Call& call, const ProfilingResult& result) {
  desk_of(service).report(call.text("job_id"), result.rank, service.site.clock.now());
  return std::nullopt;
}

void send_schedule(Service& service, const SharedCall& call) {
  const auto rank = static_cast<std::uint32_t>(call->number("rank"));
  PipelineDesk::Reply reply{
      .given =
          [call](const FrequencySchedule& schedule) { call->answer(json_answer(200, records::json_line(schedule))); },
      .refused = [call](const Error& error) { call->refuse(error); }};
  desk_of(service).ask(call->text("job_id"), rank, std::move(reply), service.site.clock.now());
}

Parameter id_parameter() {
  Parameter parameter = text_parameter("job_id", longest_id, "The ID that the training got when it registered");
  parameter.place = Parameter::Place::path;
  parameter.required = true;
  return parameter;
}

}  // namespace

std::vector<Route> pipeline_routes() {
  Parameter rank = whole_parameter("rank", 0, most_ranks - 1, "The rank that asks");
  rank.required = true;
  std::vector<Route> all{
      route({"describePlan", "GET", "/info", Scope::pipelines, "The plan that pipelined trainings follow"},
            describe_plan),
      route({"registerPipelineJob", "POST", "/register_job", Scope::pipelines, "Register a pipelined training"},
            register_pipeline),
      route({"registerPipelineRank",
             "POST",
             "/register_rank/{job_id}",
             Scope::pipelines,
             "Register a rank of it",
             {id_parameter()}},
            register_rank),
      route({"reportPipelineResult",
             "POST",
             "/result/{job_id}",
             Scope::pipelines,
             "Report what a rank measured; it is checked and not kept",
             {id_parameter()}},
            take_result)};
  for (Route& one : all) {
    one.at_once = true;
  }
  all.back().at_once = false;
  all.back().longest_body = longest_result;
  all.push_back(
      {.id = "getPipelineSchedule",
       .method = "GET",
       .path = "/schedule/{job_id}",
       .needs = Scope::pipelines,
       .summary = "What a rank runs in each iteration, with its clocks; waits until all ranks have registered",
       .parameters = {id_parameter(), rank},
       .outcomes = {{.status = 200,
                     .meaning = "all ranks have registered",
                     .schema = records::shared_schema<FrequencySchedule>()}},
       .stream = send_schedule});
  // A rank that is missing is a conflict.
  all.back().outcomes.push_back({.status = 409,
                                 .meaning = "the rank has not registered, or others did not in time",
                                 .type = problem_type,
                                 .schema = records::shared_schema<protocol::Problem>()});
  return all;
}

}  // namespace zeus::server
