// The files that say who may do what: policy, keys, revoked tokens. Read at the start and whenever they have changed.
// Functions of the file system and of the system's names of users; any thread but the loop's.
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
  std::optional<std::filesystem::path> policy;  // nothing: the usual one, where it is there
  std::optional<std::filesystem::path> keys;
};

// Names of users and groups as this machine knows them.
NameLookup system_names();

// A user of this machine by name or number, with the groups that it has; a not_found Error where there is none.
Asker asker_named(const std::string& user);

// An Error for what cannot be understood, or what somebody other than root or `user` can have written.
Rules read_rules(const RuleFiles& files, uid_t user);

// The policy alone, from this file and the folder policy.d beside it.
Policy read_policy(const std::filesystem::path& file, uid_t user);

}  // namespace zeus::daemon
