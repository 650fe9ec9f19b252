// A program of ours that watches over this process and outlives it: started in a session of its own, so that no signal
// to this process' group or terminal reaches it, with nothing of ours open but a socket between the two. It is not a
// child for long: nobody has to wait for it, and its end is nobody's SIGCHLD.
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
  // Starts `program`, which inherits the environment. An Error when it cannot be run. A program that does not go into
  // the background within `patience` of real time is no companion: it is killed, and a timeout Error names it.
  CompanionProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   Seconds patience = Seconds{10});
  CompanionProcess(const CompanionProcess&) = delete;
  CompanionProcess& operator=(const CompanionProcess&) = delete;
  // Ends the connection, also when forked children still have it open.
  ~CompanionProcess();

  // Whether the companion is still there.
  [[nodiscard]] bool is_there() const;
  // The next line that it says; nothing when it ends, or says none within `patience` of real time, or one without an
  // end.
  [[nodiscard]] std::optional<std::string> read_line(Seconds patience);
  // Sends one byte, or none when many are still unread.
  void nudge() const noexcept;
  // Ends a companion that does not do its work, with all that it has started in its session.
  void kill() const noexcept;

 private:
  pid_t owner_;
  pid_t group_ = -1;  // of its processes; the number is not used again while one of them lives
  FileDescriptor socket_;
};

// First thing in a companion's main: goes into the background, closes what it inherited by accident, and returns the
// connection. An invalid_argument Error when this process was not started as a companion. All signals that can be are
// blocked from the start, and stay so.
FileDescriptor enter_companion();

}  // namespace zeus
