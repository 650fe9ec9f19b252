// How a run reaches its host: on this machine, or over the system's ssh with the user's own configuration. One thread,
// but for problems().
#pragma once

#include "base/environment.hpp"
#include "sweep/host_file.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zeus::sweep {

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // Ends what it has started for all runs together.
  virtual ~Engine() = default;

  // The command that reads an order on its standard input, there.
  [[nodiscard]] virtual std::vector<std::string> command(const Place& place) const = 0;
  // Finds out, side by side, which hosts cannot be used; for one that is gone that may take most of a minute. By host
  // name: one sentence each. Any thread.
  [[nodiscard]] virtual std::map<std::string, std::string> problems(const std::vector<Place>& places) const = 0;
};

// All hosts are this machine. `program` is the one that runs.
std::unique_ptr<Engine> make_local_engine(std::filesystem::path program);

// One connection to each host, which its runs share. `version` is this program's: another one at the host is a problem.
std::unique_ptr<Engine> make_ssh_engine(const Environment& environment, std::string version);

}  // namespace zeus::sweep
