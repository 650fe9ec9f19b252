#include "serving/server_process.hpp"

#include "base/holder.hpp"
#include "transport/host_port.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace zeus::serving {

namespace {

constexpr std::string_view advice = "name the GPUs of the server by --gpus; `zeus devices` lists them";
constexpr std::string_view state_of_listeners = "0A";
constexpr int longest_descent = 64;

template <typename Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

// The sockets that listen at the port, as "socket:[INODE]".
void add_sockets(const std::string& table, std::uint16_t port, std::set<std::string>& sockets) {
  std::istringstream lines{table};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words{line};
    std::string place;
    std::string local;
    std::string remote;
    std::string state;
    std::string other;
    std::string inode;
    words >> place >> local >> remote >> state >> other >> other >> other >> other >> other >> inode;
    const std::size_t colon = local.rfind(':');
    if (words && state == state_of_listeners && colon != std::string::npos &&
        number_in<std::uint16_t>(std::string_view{local}.substr(colon + 1), 16) == port) {
      sockets.insert("socket:[" + inode + "]");
    }
  }
}

// False also for a process that this user may not look into.
bool has_open(const FileTree& machine, const std::string& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator{machine.resolve("proc/" + process + "/fd"), error};
       !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    std::error_code gone;
    if (sockets.contains(std::filesystem::read_symlink(entry->path(), gone).string())) {
      return true;
    }
  }
  return false;
}

bool descends_from_any(const FileTree& machine, std::int64_t process, const std::set<std::int64_t>& ancestors) {
  std::optional<std::int64_t> at = process;
  for (int links = 0; at && *at > 0 && links < longest_descent; ++links) {
    if (ancestors.contains(*at)) {
      return true;
    }
    at = parent_of(machine, *at);
  }
  return false;
}

bool is_here(const FileTree& machine, const std::string& host) {
  return host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127.") ||
         host == machine.read_line("proc/sys/kernel/hostname");
}

}  // namespace

std::set<std::int64_t> listeners_at(const FileTree& machine, std::uint16_t port) {
  std::set<std::string> sockets;
  for (const char* const table : {"proc/net/tcp", "proc/net/tcp6"}) {
    add_sockets(machine.read(table).value_or(""), port, sockets);
  }
  std::set<std::int64_t> processes;
  if (!sockets.empty()) {
    for (const std::string& name : machine.list("proc")) {
      const auto process = number_in<std::int64_t>(name, 10);
      if (process && has_open(machine, name, sockets)) {
        processes.insert(*process);
      }
    }
  }
  return processes;
}

std::vector<int> gpus_of(const FileTree& machine, const device::Inventory& inventory,
                         const std::set<std::int64_t>& processes) {
  std::vector<int> gpus;
  const std::vector<device::DiscoveredGpu> visible = inventory.visible();
  for (std::size_t number = 0; number < visible.size(); ++number) {
    const auto users = visible[number].gpu->processes();
    if (users && std::ranges::any_of(*users, [&](const device::GpuProcess& user) {
          return descends_from_any(machine, user.pid, processes);
        })) {
      gpus.push_back(static_cast<int>(number));
    }
  }
  return gpus;
}

std::vector<int> gpus_of_server(const FileTree& machine, const device::Inventory& inventory,
                                std::string_view host_port) {
  const auto [host, port] = transport::split_host_port(host_port);
  if (!is_here(machine, host)) {
    throw Error{ErrorKind::not_found, fmt::format("{} is not this machine, whose GPUs are measured", host),
                std::string{advice}};
  }
  const std::set<std::int64_t> processes = listeners_at(machine, number_in<std::uint16_t>(port, 10).value_or(0));
  if (processes.empty()) {
    throw Error{ErrorKind::not_found, fmt::format("no process that this user may look into listens at port {}", port),
                std::string{advice}};
  }
  std::vector<int> gpus = gpus_of(machine, inventory, processes);
  if (gpus.empty()) {
    throw Error{ErrorKind::not_found,
                fmt::format("neither process {}, which listens at port {}, nor one that it has started uses a GPU "
                            "that can be seen",
                            *processes.begin(), port),
                std::string{advice}};
  }
  return gpus;
}

}  // namespace zeus::serving
