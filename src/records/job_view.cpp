#include "records/job_view.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

namespace zeus::records {

std::string_view to_string(RecurrenceState state) {
  return field::name_of(state);
}

std::string to_json(const JobView& job) {
  return json_line(job);
}

JobView job_view_from_json(std::string_view text) {
  return record_from_json<JobView>(text, {.refusal = "this is not a job", .newer = true});
}

}  // namespace zeus::records
