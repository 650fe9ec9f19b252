#include "server/parameters.hpp"

#include "jobs/job.hpp"
#include "server/requests.hpp"

#include <utility>

namespace zeus::server {

namespace {

using SchemaKind = records::JsonSchema::Kind;

constexpr std::size_t longest_key = 200;
// Above it a double cannot represent every integer.
constexpr double most_recurrences = 9007199254740992.0;

}  // namespace

Parameter whole_parameter(std::string_view name, double least, double most, std::string_view help) {
  Parameter parameter{
      .name = name, .place = Parameter::Place::query, .schema = {.kind = SchemaKind::whole}, .help = help};
  parameter.schema.least = least;
  parameter.schema.most = most;
  return parameter;
}

Parameter word_parameter(std::string_view name, std::vector<std::string> words, std::string_view help) {
  Parameter parameter{
      .name = name, .place = Parameter::Place::query, .schema = {.kind = SchemaKind::word}, .help = help};
  parameter.schema.words = std::move(words);
  return parameter;
}

Parameter text_parameter(std::string_view name, std::size_t longest, std::string_view help) {
  Parameter parameter{
      .name = name, .place = Parameter::Place::query, .schema = {.kind = SchemaKind::string}, .help = help};
  parameter.schema.longest = longest;
  return parameter;
}

Parameter job_parameter() {
  Parameter parameter =
      text_parameter("job", jobs::longest_job_name, "The job's name, percent-encoded: %2F for a slash");
  parameter.place = Parameter::Place::path;
  parameter.required = true;
  return parameter;
}

Parameter recurrence_parameter() {
  Parameter parameter = whole_parameter("recurrence", 1, most_recurrences, "Its number, from 1");
  parameter.place = Parameter::Place::path;
  parameter.required = true;
  return parameter;
}

Parameter key_parameter() {
  Parameter parameter =
      text_parameter(idempotency_key, longest_key, "The request's own key: a request repeated with it is done once");
  parameter.place = Parameter::Place::header;
  return parameter;
}

}  // namespace zeus::server
