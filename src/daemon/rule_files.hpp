// The files that say who may do what: policy, keys, revoked tokens. Read at the start, and again when asked to. Uses
// the file system and the system's database of users; any thread but the loop's.
#pragma once

#include "daemon/policy.hpp"
#include "daemon/service.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

inline constexpr std::string_view usual_policy = "/etc/zeusd/policy.toml";

struct RuleFiles {
  std::optional<std::filesystem::path> policy;  // empty: the usual one, if it exists
  std::optional<std::filesystem::path> keys;
};

// The users and groups of this machine.
NameLookup system_names();

// A user of this machine by name or number, with its groups; throws a not_found Error if there is none.
Asker asker_named(const std::string& user);

// The file of the policy; nothing if the built-in rule applies.
std::optional<std::filesystem::path> policy_file(const RuleFiles& files);

// Throws an Error for anything invalid, and for files that anyone but root or `user` may have written.
Rules read_rules(const RuleFiles& files, uid_t user);

// The policy alone, from this file and the folder policy.d beside it.
Policy read_policy(const std::filesystem::path& file, uid_t user);

}  // namespace zeus::daemon
