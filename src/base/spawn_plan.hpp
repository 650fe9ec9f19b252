// How posix_spawn() starts a process: its descriptors, its group, and all signals at their default action. One thread
// at a time.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace zeus {

class SpawnPlan {
 public:
  enum class Signals { unblocked, blocked };
  enum class Group { ours, own, own_session };

  SpawnPlan(Signals signals, Group group);
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan();

  // In the order of the calls: what a later one duplicates must not be a number that an earlier one replaces.
  void open_null(int number);
  void duplicate(int descriptor, int number);

  // The first word is the program, looked for in PATH if it has no slash. A system failure if it cannot be started.
  [[nodiscard]] pid_t spawn(std::vector<std::string> words) const;
  [[nodiscard]] pid_t spawn(std::vector<std::string> words, std::vector<std::string> variables) const;

 private:
  [[nodiscard]] pid_t spawn(std::vector<std::string>& words, char* const* variables) const;

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace zeus
