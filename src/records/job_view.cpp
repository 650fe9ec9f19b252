#include "records/job_view.hpp"

#include "records/json_writer.hpp"

namespace zeus::records {

std::string_view to_string(RecurrenceState state) {
  return field::name_of(state);
}

std::string to_json(const JobView& job) {
  return json_line(job);
}

}  // namespace zeus::records
