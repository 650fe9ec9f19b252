// A job as a text that another store can take in: a line of JSON about the job, one for each entry of its history, and
// a last one that says how many there were, so that a text cut short is not taken for a whole. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "store/job_store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::jobs {

struct ExportedJob {
  std::string name;
  records::JobDefinition definition;
  WallTime created;
  std::vector<records::JobEntry> entries;
};

std::string export_text(const ExportedJob& job);
// Reads that back, and makes sure that such a job can be: its definition makes sense and each entry can follow those
// before it. Anything else is a corrupt_data Error that names the line.
ExportedJob exported_job_from(std::string_view text);

// A job that does not exist is a not_found Error.
std::string export_job(store::JobStore& store, std::string_view name);
// Takes the job in as `name`. What ran where it was exported is given up: it does not run here. A name that is taken is
// an already_exists Error.
store::StoredJob import_job(store::JobStore& store, std::string_view name, std::string_view text, WallTime now);

}  // namespace zeus::jobs
