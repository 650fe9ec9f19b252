// A program of ours that watches over this process and outlives it. It is started in a session of its own, so no signal
// to this process's group or terminal reaches it. Of our open files it has only a socket between the two. It does not
// stay our child: there is nothing to wait for, and its end sends no SIGCHLD.
//
// Threads: one at a time on this side. Fork: a child inherits the object and must leave it alone; destroying it there
// does not end the connection. The companion's side is `enter_companion`.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

class CompanionProcess {
 public:
  // Starts `program`, which inherits the environment. Throws an Error if it cannot be run. If it does not go into the
  // background within `patience` of real time, it is not a companion: it is killed, and a timeout Error names it.
  CompanionProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   Seconds patience = Seconds{10});
  CompanionProcess(const CompanionProcess&) = delete;
  CompanionProcess& operator=(const CompanionProcess&) = delete;
  // Ends the connection, even if forked children still have it open.
  ~CompanionProcess();

  // True while the companion runs.
  [[nodiscard]] bool is_there() const;
  // The next line that the companion writes. Nothing if it ends, if no line comes within `patience` of real time, or if
  // the line has no end.
  [[nodiscard]] std::optional<std::string> read_line(Seconds patience);
  // Sends one byte, or none if many are still unread.
  void nudge() const noexcept;
  // Kills a companion that does not do its work, and all that it has started in its session.
  void kill() const noexcept;

 private:
  pid_t owner_;
  pid_t group_ = -1;  // of its processes; the ID is not reused while one of them lives
  FileDescriptor socket_;
};

// The first call in a companion's main: goes into the background, closes the descriptors inherited by accident, and
// returns the connection. An invalid_argument Error if this process was not started as a companion. All signals that
// can be blocked are blocked from the start, and stay so.
FileDescriptor enter_companion();

}  // namespace zeus
