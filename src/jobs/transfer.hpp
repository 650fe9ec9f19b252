// A job as text that another store can import: a line of JSON about the job, one for each entry of its history, and a
// last line with their number, which shows that the text is complete. One thread at a time.
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

struct Site;

struct ExportedJob {
  std::string name;
  records::JobDefinition definition;
  WallTime created;
  std::vector<records::JobEntry> entries;
};

std::string export_text(const ExportedJob& job);
// Reads that text and checks that such a job is possible: the definition is valid and each entry can follow those
// before it. Anything else is a corrupt_data Error that names the line.
ExportedJob exported_job_from(std::string_view text);

// The text of a job as it is at construction, piece by piece, so that a long history is never in memory as a whole. The
// store must outlive it.
class JobExport {
 public:
  // A job that does not exist is a not_found Error.
  JobExport(store::JobStore& store, std::string_view name);
  // Empty at the end. If the job was forgotten meanwhile: a not_found Error.
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

// An export, possibly too long for memory: can be read from its beginning more than once.
struct TextPieces {
  std::function<void()> rewind;
  std::function<std::string_view()> next;  // valid until the next call; empty at the end
};

// Imports the job as `name`, entry by entry. Recurrences that were running at the export are given up, because they do
// not run here. A name in use is an already_exists Error, unless the same request of `origin` created it. An incomplete
// export, or input that is not an export, leaves nothing behind. The summary is stored as well, so that the next list
// does not read the history.
store::StoredJob import_job(store::JobStore& store, const Site& site, std::string_view name, const TextPieces& text,
                            const store::JobOrigin& origin = {});
store::StoredJob import_job(store::JobStore& store, const Site& site, std::string_view name, std::string_view text,
                            const store::JobOrigin& origin = {});

}  // namespace zeus::jobs
