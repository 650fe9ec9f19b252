// Starts a thread that handles no signals, so that each reaches a thread of the program that expects it: Ctrl-C would
// otherwise end a program that has blocked it elsewhere. Any thread.
#pragma once

#include <functional>
#include <thread>

namespace zeus {

// Throws a std::system_error if no thread can be started.
[[nodiscard]] std::thread background_thread(std::function<void()> work);

// Runs `work` on such a thread and waits for it, so that the threads that it starts, such as those of a driver's
// library, handle no signals either. The caller's signals keep their effect meanwhile. Throws what `work` throws. If no
// thread can be started, `work` runs on the caller's.
void without_signals(const std::function<void()>& work);

}  // namespace zeus
