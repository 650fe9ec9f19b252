// A job of the existing package's clients as a job of ours, under policy `zeus`, and what the two differ in. Pure
// functions; any thread.
//
// What a definition cannot hold is told by what it can: a seed that was not given is one that nobody can give. The
// prefix of a name is only there to make names, and is whatever its client says.
#pragma once

#include "records/job_definition.hpp"
#include "server/existing_bodies.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::server {

// As jobs::normalized has it. `job_id` is the job's name. A spec that is well formed and that no job can have all the
// same is an invalid_argument Error.
records::JobDefinition definition_of(const ExistingSpec& spec, std::string_view job_id);

// What the policy draws from where no seed is given: that of the name, so that every server draws alike.
std::uint64_t unspoken_seed(std::string_view job_id);

// What differs between the job that is kept and the one that is asked for, as sentences; empty where they are one. Its
// GPUs count: such a client cannot say on which it runs, only as which it was registered.
std::vector<std::string> existing_differences(const records::JobDefinition& kept, const records::JobDefinition& asked);

}  // namespace zeus::server
