// What becomes of a job's history when its definition changes: what was measured or learned under the old one stays as
// far as it is true under the new one. docs/run.md has this as a table. Pure functions; any thread.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"

#include <optional>
#include <string_view>

namespace zeus::jobs {

// What changing this key does, in words: "costs are weighed anew; all that was measured stays".
std::string_view what_follows(std::string_view key);

// Whether an epoch is the same under both. It is not where the whole training counted as one.
bool same_epochs(const records::JobDefinition& then, const records::JobDefinition& now);

// Whether a training takes as many epochs under both.
bool same_course(const records::JobDefinition& then, const records::JobDefinition& now);

// An entry from under one definition, as it teaches under another: as it is, as one that is left out, without the
// limits that it tells of, or nothing, where it is about a batch size that the job no longer has.
std::optional<records::JobEntryBody> still_true(const records::JobEntryBody& body, const records::JobDefinition& then,
                                                const records::JobDefinition& now);

}  // namespace zeus::jobs
