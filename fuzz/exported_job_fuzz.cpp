// Any text as an exported job: it is refused by a zeus::Error, or it is a possible job, is written back so that it
// reads the same, and can be shown: its summary has no number that is none.

#include "jobs/job_impl.hpp"
#include "jobs/job_view.hpp"
#include "jobs/transfer.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

extern "C" int fuzz_exported_job(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::optional<zeus::jobs::ExportedJob> job;
  try {
    job = zeus::jobs::exported_job_from(text);
  } catch (const zeus::Error&) {
    return 0;
  }
  const std::string written = zeus::jobs::export_text(*job);
  if (zeus::jobs::export_text(zeus::jobs::exported_job_from(written)) != written) {
    std::abort();
  }
  const zeus::store::StoredJob stored{.name = job->name, .definition = job->definition, .created = job->created};
  const zeus::jobs::JobAccount account = zeus::jobs::account_of(stored, job->entries, zeus::jobs::JobAccount::all);
  const std::string summary = to_json(zeus::jobs::summary_of(stored, account));
  if (to_json(zeus::records::job_summary_from_json(summary)) != summary) {
    std::abort();
  }
  return 0;
}
