#include "base/spawn_plan.hpp"

#include "base/exec_strings.hpp"
#include "base/file_descriptor.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace zeus {

SpawnPlan::SpawnPlan(Signals signals, Group group) {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  sigset_t all{};
  ::sigfillset(&all);
  sigset_t none{};
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes_, signals == Signals::blocked ? &all : &none);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == Group::own) {
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  } else if (group == Group::own_session) {
    flags |= POSIX_SPAWN_SETSID;
  }
  ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
}

SpawnPlan::~SpawnPlan() {
  ::posix_spawnattr_destroy(&attributes_);
  ::posix_spawn_file_actions_destroy(&actions_);
}

void SpawnPlan::open_null(int number) {
  ::posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", O_RDWR, 0);
}

void SpawnPlan::duplicate(int descriptor, int number) {
  ::posix_spawn_file_actions_adddup2(&actions_, descriptor, number);
}

pid_t SpawnPlan::spawn(std::vector<std::string> words) const {
  return spawn(words, ::environ);
}

pid_t SpawnPlan::spawn(std::vector<std::string> words, std::vector<std::string> variables) const {
  return spawn(words, exec_pointers(variables).data());
}

pid_t SpawnPlan::spawn(std::vector<std::string>& words, char* const* variables) const {
  pid_t process = -1;
  if (const int error = ::posix_spawnp(&process, words.front().c_str(), &actions_, &attributes_,
                                       exec_pointers(words).data(), variables)) {
    throw system_failure(error, fmt::format("cannot start {}", words.front()));
  }
  return process;
}

}  // namespace zeus
