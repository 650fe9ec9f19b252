#include "drivers/session/followed_groups.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace zeus::drivers {

namespace {

constexpr std::array<std::string_view, 10> shells{"ash", "bash", "csh", "dash", "fish",
                                                  "ksh", "mksh", "sh",  "tcsh", "zsh"};

// Reads a line of /proc/PID/stat: the name is in brackets and may contain anything.
std::optional<ProcessPlace> parse_stat(pid_t process, const std::string& stat) {
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return std::nullopt;
  }
  std::istringstream rest{stat.substr(end + 1)};
  char state = 0;
  ProcessPlace place{.process = process};
  rest >> state >> place.parent >> place.group >> place.session;
  place.is_shell = std::ranges::find(shells, stat.substr(begin + 1, end - begin - 1)) != shells.end();
  return rest ? std::optional{place} : std::nullopt;
}

}  // namespace

std::vector<ProcessPlace> read_processes(const FileTree& machine) {
  std::vector<ProcessPlace> processes;
  for (const std::string& name : machine.list("proc")) {
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (error != std::errc{} || end != name.data() + name.size()) {
      continue;
    }
    try {
      if (const std::optional<std::string> stat = machine.read(fmt::format("proc/{}/stat", process))) {
        if (const std::optional<ProcessPlace> place = parse_stat(process, *stat)) {
          processes.push_back(*place);
        }
      }
    } catch (const Error&) {
      // The process ended meanwhile, or we may not see it.
      continue;
    }
  }
  return processes;
}

std::vector<pid_t> followed_groups(std::span<const ProcessPlace> processes, pid_t command) {
  std::multimap<pid_t, const ProcessPlace*> children;
  const ProcessPlace* root = nullptr;
  for (const ProcessPlace& place : processes) {
    children.emplace(place.parent, &place);
    root = place.process == command ? &place : root;
  }
  if (root == nullptr) {
    return {command};
  }
  std::map<pid_t, const ProcessPlace*> below{{command, root}};
  std::set<pid_t> groups{root->group};
  std::set<pid_t> looking_after;
  std::vector<const ProcessPlace*> open{root};
  while (!open.empty()) {
    const ProcessPlace* const parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent->process);
    for (auto entry = first; entry != last; ++entry) {
      const ProcessPlace& child = *entry->second;
      if (child.session != root->session) {
        continue;
      }
      open.push_back(&child);
      below.emplace(child.process, &child);
      groups.insert(child.group);
      if (child.group != parent->group) {
        looking_after.insert(parent->group);
      }
    }
  }
  std::vector<pid_t> followed;
  std::ranges::set_difference(groups, looking_after, std::back_inserter(followed));
  std::vector<pid_t> targets;
  for (const pid_t group : followed) {
    std::vector<pid_t> singly;
    bool reported = false;
    for (const ProcessPlace& place : processes) {
      if (place.group != group || place.session != root->session) {
        continue;
      }
      const auto parent = below.find(place.parent);
      const bool by_shell = parent != below.end() && parent->second->is_shell && parent->second->group != group;
      reported = reported || by_shell;
      if (!by_shell) {
        singly.push_back(-place.process);
      }
    }
    if (reported) {
      targets.insert(targets.end(), singly.begin(), singly.end());
    } else {
      targets.push_back(group);
    }
  }
  std::ranges::sort(targets);
  return targets;
}

}  // namespace zeus::drivers
