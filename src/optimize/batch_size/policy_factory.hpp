// Policies by name. Pure functions; safe from any thread.
#pragma once

#include "optimize/batch_size/policy.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace zeus::optimize {

// The best policy known, used where none is named.
inline constexpr std::string_view best_policy = "lookahead";

// The policies that need nothing but a job's spec; `oracle`, which must be told the answer, is not among them.
std::span<const std::string_view> policy_names();

// A fresh policy for a job whose spec is `checked`. An unknown name is an invalid_argument Error that lists the names.
std::unique_ptr<Policy> make_policy(std::string_view name, const JobSpec& spec);

}  // namespace zeus::optimize
