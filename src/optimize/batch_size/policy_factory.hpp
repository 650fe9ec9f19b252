// Policies by name. Pure functions; any thread may call them.
#pragma once

#include "optimize/batch_size/policy.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace zeus::optimize {

// The best policy known. It is used by default.
inline constexpr std::string_view best_policy = "lookahead";

// The policies that need only a job's spec. `oracle` is not among them, because it must be given the answer.
std::span<const std::string_view> policy_names();

// A fresh policy for a job whose spec is `checked`. An unknown name is an invalid_argument Error that lists the valid
// names.
std::unique_ptr<Policy> make_policy(std::string_view name, const JobSpec& spec);

}  // namespace zeus::optimize
