// A job as a text that another store can take in: a line of JSON about the job, one for each entry of its history, and
// a last one that says how many there were, so that a text cut short is not taken for a whole. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "store/job_store.hpp"

#include <cstdint>
#include <functional>
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

// The text of a job as it is when this is made, piece by piece, so that nobody holds a long history in memory. The
// store outlives it.
class JobExport {
 public:
  // A job that does not exist is a not_found Error.
  JobExport(store::JobStore& store, std::string_view name);
  // Empty where there is no more. A job that was forgotten meanwhile is a not_found Error.
  std::string next();

 private:
  store::JobStore& store_;
  store::StoredJob job_;
  std::uint64_t told_ = 0;
  bool began_ = false;
  bool is_over_ = false;
};

// The same in one string.
std::string export_job(store::JobStore& store, std::string_view name);

// Such a text that may be too long to be held in memory: read from its beginning, and again where that is needed.
struct TextPieces {
  std::function<void()> rewind;
  std::function<std::string_view()> next;  // good until the next call; empty where there is no more
};

// Takes the job in as `name`, entry by entry. What ran where it was exported is given up: it does not run here. A name
// that is taken is an already_exists Error, unless it is by the same request of `origin`. A text that breaks off, or
// that is no job's, leaves nothing.
store::StoredJob import_job(store::JobStore& store, std::string_view name, const TextPieces& text, WallTime now,
                            const store::JobOrigin& origin = {});
store::StoredJob import_job(store::JobStore& store, std::string_view name, std::string_view text, WallTime now,
                            const store::JobOrigin& origin = {});

}  // namespace zeus::jobs
