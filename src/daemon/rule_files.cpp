#include "daemon/rule_files.hpp"

#include "base/trusted_file.hpp"
#include "tokens/credentials.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace zeus::daemon {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = std::size_t{1} << 20;
constexpr std::size_t most_files = 4096;

// Names come from the system's files or over the network, as the system is configured.
template <typename Entry, typename Ask>
std::optional<Entry> ask_system(const std::string& name, Ask ask) {
  std::vector<char> buffer(std::size_t{1} << 16);
  Entry entry{};
  Entry* found = nullptr;
  if (ask(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return entry;
}

}  // namespace

NameLookup system_names() {
  return {.user = [](const std::string& name) -> std::optional<std::uint32_t> {
            const std::optional<passwd> user = ask_system<passwd>(name, ::getpwnam_r);
            return user ? std::optional{user->pw_uid} : std::nullopt;
          },
          .group = [](const std::string& name) -> std::optional<std::uint32_t> {
            const std::optional<::group> group = ask_system<::group>(name, ::getgrnam_r);
            return group ? std::optional{group->gr_gid} : std::nullopt;
          }};
}

Asker asker_named(const std::string& user) {
  std::vector<char> buffer(std::size_t{1} << 16);
  passwd entry{};
  passwd* found = nullptr;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), number);
  if (error == std::errc{} && end == user.data() + user.size()) {
    ::getpwuid_r(number, &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) {
      return {.user = number, .groups = {}, .token = {}};
    }
  } else {
    ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) {
      throw Error{ErrorKind::not_found, fmt::format("there is no user '{}' on this machine", user)};
    }
  }
  int count = 1024;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  ::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count);
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return {.user = entry.pw_uid, .groups = std::move(groups), .token = {}};
}

Policy read_policy(const fs::path& file, uid_t user) {
  std::vector<PolicyText> texts;
  std::optional<std::string> text = read_trusted(file, user, longest_file);
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no policy {}", file.string())};
  }
  texts.push_back({file.string(), std::move(*text)});
  const fs::path folder = file.parent_path() / "policy.d";
  std::error_code none;
  std::vector<fs::path> more;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder, none}) {
    if (entry.path().extension() == ".toml") {
      more.push_back(entry.path());
    }
  }
  if (more.size() > most_files) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} has more than {} files", folder.string(), most_files)};
  }
  std::ranges::sort(more);
  for (const fs::path& one : more) {
    // A file that was removed meanwhile has no rules.
    if (std::optional<std::string> rules = read_trusted(one, user, longest_file)) {
      texts.push_back({one.string(), std::move(*rules)});
    }
  }
  return policy_from(texts, system_names());
}

std::optional<fs::path> policy_file(const RuleFiles& files) {
  if (files.policy) {
    return files.policy;
  }
  return fs::exists(usual_policy) ? std::optional{fs::path{usual_policy}} : std::nullopt;
}

Rules read_rules(const RuleFiles& files, uid_t user) {
  Rules rules{.policy = built_in_policy(), .credentials = {}};
  if (const std::optional<fs::path> file = policy_file(files)) {
    rules.policy = read_policy(*file, user);
  }
  if (files.keys) {
    rules.credentials = tokens::read_credentials(*files.keys, user);
  }
  return rules;
}

}  // namespace zeus::daemon
