// Starts a thread that handles no signals, so that each reaches a thread of the program that expects it: Ctrl-C would
// otherwise end a program that has blocked it elsewhere. Any thread.
#pragma once

#include <functional>
#include <thread>

namespace zeus {

// Throws a std::system_error if no thread can be started.
[[nodiscard]] std::thread background_thread(std::function<void()> work);

}  // namespace zeus
