// Where leases are written down: one folder for all of the machine where that can be, else one for the user. Held to
// the kernel's lifetime where possible, since a restart of the machine resets what the records are about.
// Functions of the environment and the file system; any thread.
#pragma once

#include "base/environment.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace zeus::control {

// The places in question, best first: ZEUS_STATE_DIR alone where it is set; else /run/zeus, then zeus in
// XDG_RUNTIME_DIR (not for root, to whom it may come from another user), then zeus-UID in /tmp. A ZEUS_STATE_DIR that
// is not absolute is an invalid_argument Error.
std::vector<std::filesystem::path> state_folders(const Environment& environment, uid_t user);

// The first of them that is there and may be used: a folder of this user's or of root's, that the user can write to and
// in which nobody else can replace files.
std::optional<std::filesystem::path> find_state_folder(const Environment& environment, uid_t user);

// The same, made where it is missing; a permission_denied Error that lists the places when none can be used.
std::filesystem::path make_state_folder(const Environment& environment, uid_t user);

}  // namespace zeus::control
