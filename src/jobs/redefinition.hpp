// What stays of a job's history when its definition changes: whatever is still true under the new one. docs/run.md
// shows this as a table. Pure functions; any thread.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace zeus::jobs {

// The effect of changing this key, in words: "costs are weighed again, and everything learned is kept".
std::string_view what_follows(std::string_view key);
// The changes with what follows from each, as they are reported to people.
std::vector<records::ReportedChange> reported(const std::vector<records::DefinitionChange>& changes);

// Whether an epoch is the same under both. False if the whole training counted as one.
bool same_epochs(const records::JobDefinition& then, const records::JobDefinition& now);

// Whether a training takes the same number of epochs under both.
bool same_course(const records::JobDefinition& then, const records::JobDefinition& now);

// How an entry made under one definition counts under another: unchanged, left out, or without its limits. Nothing if
// the job no longer has its batch size.
std::optional<records::JobEntryBody> still_true(const records::JobEntryBody& body, const records::JobDefinition& then,
                                                const records::JobDefinition& now);

}  // namespace zeus::jobs
