// The processes that a command leaves behind. Main thread of a program that has one ChildProcess at a time.
#pragma once

namespace zeus {

// From now on, processes that children of this process leave behind become its children.
void adopt_orphans();

// Waits until this process has no children any more, or a signal comes that usually ends a command. The caller has such
// signals blocked, as a ChildProcess does.
void wait_for_orphans();

// Ends the processes that were left behind: asks them, gives them a second, and kills them with all that they leave
// behind in turn. For a process without other children.
void end_orphans();

}  // namespace zeus
