#include "control/descent.hpp"

#include "base/file_descriptor.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace zeus::control {

namespace {

// A process that cannot be mistaken for a later one with the same ID.
class Process {
 public:
  explicit Process(std::int64_t pid) : pid_{pid} {
#ifdef SYS_pidfd_open
    descriptor_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
#endif
  }

  [[nodiscard]] std::int64_t pid() const { return pid_; }
  [[nodiscard]] bool lives() const {
    pollfd asked{descriptor_.get(), POLLIN, 0};
    return descriptor_ && ::poll(&asked, 1, 0) == 0;
  }

 private:
  std::int64_t pid_;
  FileDescriptor descriptor_;
};

// Nothing if no parent can be seen from here. If the parent is the same before and after it is opened, the opened
// process is the parent, and not another one that got its ID. The same holds of the child if it still lives afterwards.
std::optional<Process> parent(const FileTree& machine, const Process& child) {
  const std::optional<std::int64_t> number = parent_of(machine, child.pid());
  if (!number || *number == 0) {
    return std::nullopt;
  }
  Process found{*number};
  const bool certain = parent_of(machine, child.pid()) == number && child.lives() && found.lives();
  return certain ? std::optional{std::move(found)} : std::nullopt;
}

}  // namespace

bool descends_from(const FileTree& machine, std::int64_t pid, const Holder& ancestor) {
  constexpr int longest_chain = 64;
  std::optional<Process> process{Process{pid}};
  for (int links = 0; links < longest_chain && (process = parent(machine, *process)); ++links) {
    if (process->pid() == ancestor.pid) {
      const std::optional<Holder> found = find_holder(machine, ancestor.pid);
      return found && found->started == ancestor.started && process->lives();
    }
  }
  return false;
}

}  // namespace zeus::control
