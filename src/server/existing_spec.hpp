// Converts a job of the existing package's clients to ours, under policy `zeus`, and compares the two. Pure functions;
// any thread.
//
// A definition has no field for a missing seed, so a missing seed becomes one that no client can give. A job's prefix
// only serves to make names, and is whatever its client sends.
#pragma once

#include "records/job_definition.hpp"
#include "server/existing_bodies.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::server {

// Normalized as by jobs::normalized. `job_id` is the job's name. A well-formed spec that no job can have is an
// invalid_argument Error.
records::JobDefinition definition_of(const ExistingSpec& spec, std::string_view job_id);

// The seed of a job without one: derived from its name, so that every server draws alike.
std::uint64_t unspoken_seed(std::string_view job_id);

// The differences between the kept job and the requested one, as sentences; empty if they are the same. GPUs count too,
// because such a client cannot say which it runs on, only which it was registered with.
std::vector<std::string> existing_differences(const records::JobDefinition& kept, const records::JobDefinition& asked);

}  // namespace zeus::server
