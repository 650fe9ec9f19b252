#include "control/state_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>

namespace zeus::control {

namespace {

namespace fs = std::filesystem;

bool is_usable(const fs::path& folder, uid_t user) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return false;
  }
  const bool trusted = status.st_uid == user || status.st_uid == 0;
  const bool others_replace = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
  return trusted && !others_replace && ::access(folder.c_str(), W_OK | X_OK) == 0;
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

fs::path make_state_folder(const Environment& environment, uid_t user) {
  const bool chosen = !environment.get("ZEUS_STATE_DIR").value_or("").empty();
  std::string tried;
  for (const fs::path& folder : state_folders(environment, user)) {
    make(folder, chosen);
    if (is_usable(folder, user)) {
      return folder;
    }
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  throw Error{
      ErrorKind::permission_denied,
      fmt::format("no folder can be used to write down a GPU's settings before they are changed (tried {})", tried),
      "name a folder in ZEUS_STATE_DIR that only you can write to"};
}

}  // namespace zeus::control
