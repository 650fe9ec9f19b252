// The processes that a command leaves behind. Main thread of a program that has one ChildProcess at a time; other
// threads may call collect_orphans() and group_lives().
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <vector>

namespace zeus {

// From now on, processes that children of this process leave behind become its children. Returns the children that it
// has already, as a program has that a shell with jobs in the background has become.
std::vector<pid_t> adopt_orphans();

// Collects those of this process group that have ended: until then they look alive. Call it once the command itself has
// been collected.
void collect_orphans(pid_t group);

// Whether a process of the group still runs. One that has ended may not be collected for long, or ever, where the first
// process of a container takes no care of orphans.
bool group_lives(pid_t group);

// Waits until this process has no children any more but `earlier` ones, or a signal comes that usually ends a command,
// and returns that. The caller has such signals blocked, as a ChildProcess does.
std::optional<int> wait_for_orphans(std::span<const pid_t> earlier);

// Ends the processes that were left behind: asks them, gives them a second, and kills them with all that they leave
// behind in turn. For a process without other children.
void end_orphans();

}  // namespace zeus
