// The folder in which leases are written down: one for the whole machine if possible, else one for the user. It lives
// as long as the kernel runs if possible, since a reboot resets the settings that the records are about. Functions of
// the environment and the file system; any thread.
#pragma once

#include "base/environment.hpp"

#include <zeus/device_values.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace zeus::control {

// The candidates, best first: ZEUS_STATE_DIR alone if it is set; else /run/zeus, then zeus in XDG_RUNTIME_DIR (not for
// root, who may have inherited it from another user), then zeus-UID in /tmp. A ZEUS_STATE_DIR that is not absolute is
// an invalid_argument Error.
std::vector<std::filesystem::path> state_folders(const Environment& environment, uid_t user);

// The first of them that exists and may be used: it belongs to this user or to root, this user can write to it, and no
// other user can replace files in it.
std::optional<std::filesystem::path> find_state_folder(const Environment& environment, uid_t user);

// The candidates in which this user's records may be, yet that cannot be used, with the reason and the fix.
std::vector<DeviceProblem> state_folder_problems(const Environment& environment, uid_t user);

// Throws what make_state_folder would, but makes nothing.
void check_state_folder(const Environment& environment, uid_t user);

// As find_state_folder, but makes the folder if it is missing; a permission_denied Error lists the places if none can
// be used.
std::filesystem::path make_state_folder(const Environment& environment, uid_t user);

}  // namespace zeus::control
