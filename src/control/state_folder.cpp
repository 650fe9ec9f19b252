#include "control/state_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace zeus::control {

namespace {

namespace fs = std::filesystem;

// Why a folder that exists cannot hold records of leases, as what is wrong with it; nothing if it can.
std::optional<std::string> unusable(const fs::path& folder, const struct stat& status, uid_t user) {
  if (!S_ISDIR(status.st_mode)) {
    return S_ISLNK(status.st_mode) ? "it is a link" : "it is not a folder";
  }
  if (status.st_uid != user && status.st_uid != 0) {
    return fmt::format("it belongs to user {}", status.st_uid);
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return "other users may replace files in it";
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return "this user cannot write to it: " + std::generic_category().message(errno);
  }
  return std::nullopt;
}

bool is_usable(const fs::path& folder, uid_t user) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && !unusable(folder, status, user);
}

bool is_chosen(const Environment& environment) {
  return !environment.get("ZEUS_STATE_DIR").value_or("").empty();
}

bool can_be_made(const fs::path& folder, bool with_parents) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    return false;
  }
  fs::path above = folder.parent_path();
  while (with_parents && !fs::exists(above, error) && above.has_relative_path()) {
    above = above.parent_path();
  }
  return fs::is_directory(above, error) && ::access(above.c_str(), W_OK | X_OK) == 0;
}

Error no_folder(const std::vector<fs::path>& tried) {
  std::vector<std::string> names;
  for (const fs::path& folder : tried) {
    names.push_back(folder.string());
  }
  return {ErrorKind::permission_denied,
          fmt::format("no folder can be used to write down a GPU's settings before they are changed (tried {})",
                      fmt::join(names, ", ")),
          "name a folder in ZEUS_STATE_DIR that only you can write to"};
}

void make(const fs::path& folder, bool with_parents) {
  std::error_code ignored;
  if (with_parents) {
    fs::create_directories(folder.parent_path(), ignored);
  }
  // A failure shows below, when the folder cannot be used.
  static_cast<void>(::mkdir(folder.c_str(), S_IRWXU));
}

}  // namespace

std::vector<fs::path> state_folders(const Environment& environment, uid_t user) {
  if (const std::optional<std::string> chosen = environment.get("ZEUS_STATE_DIR"); chosen && !chosen->empty()) {
    const fs::path folder{*chosen};
    if (!folder.is_absolute()) {
      throw Error{ErrorKind::invalid_argument, fmt::format("ZEUS_STATE_DIR is '{}', which is not absolute", *chosen),
                  "begin it with a slash, so that all processes find the same folder"};
    }
    return {folder.lexically_normal()};
  }
  std::vector<fs::path> folders{"/run/zeus"};
  const std::optional<std::string> runtime = environment.get("XDG_RUNTIME_DIR");
  if (user != 0 && runtime && fs::path{*runtime}.is_absolute()) {
    folders.push_back(fs::path{*runtime} / "zeus");
  }
  folders.emplace_back(fmt::format("/tmp/zeus-{}", user));
  return folders;
}

std::optional<fs::path> find_state_folder(const Environment& environment, uid_t user) {
  for (const fs::path& folder : state_folders(environment, user)) {
    if (is_usable(folder, user)) {
      return folder;
    }
  }
  return std::nullopt;
}

std::vector<DeviceProblem> state_folder_problems(const Environment& environment, uid_t user) {
  std::vector<DeviceProblem> problems;
  for (const fs::path& folder : state_folders(environment, user)) {
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) {
      if (errno != ENOENT && is_chosen(environment)) {
        problems.push_back({folder.string(),
                            "there may be records of leases in it, but it cannot be looked at: " +
                                std::generic_category().message(errno),
                            "correct ZEUS_STATE_DIR, or give this user access"});
      }
      continue;
    }
    const bool may_be_ours = is_chosen(environment) || user == 0 || status.st_uid == user;
    const std::optional<std::string> why = may_be_ours ? unusable(folder, status, user) : std::nullopt;
    if (why) {
      problems.push_back({folder.string(), "there may be records of leases in it, but it is not used, because " + *why,
                          "make it a folder of this user's that others cannot write to, check its files, then run "
                          "`zeus restore`"});
    }
  }
  return problems;
}

void check_state_folder(const Environment& environment, uid_t user) {
  const std::vector<fs::path> folders = state_folders(environment, user);
  const bool chosen = is_chosen(environment);
  if (std::ranges::none_of(
          folders, [&](const fs::path& folder) { return is_usable(folder, user) || can_be_made(folder, chosen); })) {
    throw no_folder(folders);
  }
}

fs::path make_state_folder(const Environment& environment, uid_t user) {
  const std::vector<fs::path> folders = state_folders(environment, user);
  for (const fs::path& folder : folders) {
    make(folder, is_chosen(environment));
    if (is_usable(folder, user)) {
      return folder;
    }
  }
  throw no_folder(folders);
}

}  // namespace zeus::control
