// The processes that a command leaves behind. Main thread of a program that has one ChildProcess at a time.
#pragma once

namespace zeus {

// From now on what the children of this process leave behind becomes its child.
void adopt_orphans();

// Waits until this process has no child any more, or a signal comes that usually ends a command. Such signals have to
// be blocked, as a ChildProcess does.
void wait_for_orphans();

}  // namespace zeus
