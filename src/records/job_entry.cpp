#include "records/job_entry.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

namespace zeus::records {

namespace {

constexpr JsonForm entry_form{.refusal = "this is not an entry of a job's history"};

}  // namespace

std::string_view to_string(TryPurpose purpose) {
  return field::name_of(purpose);
}

std::string_view to_string(TryOutcome outcome) {
  return field::name_of(outcome);
}

std::string to_json(const JobEntryBody& body) {
  return json_line(body);
}

JobEntryBody job_entry_body_from_json(std::string_view text) {
  return record_from_json<JobEntryBody>(text, entry_form);
}

std::string to_json(const JobEntry& entry) {
  return json_line(entry);
}

JobEntry job_entry_from_json(std::string_view text) {
  return record_from_json<JobEntry>(text, entry_form);
}

}  // namespace zeus::records
