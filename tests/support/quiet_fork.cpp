// In a sanitized test program: a fork waits until the other threads sleep. The address sanitizer of Clang 16 does not
// hold its allocator's locks across a fork, so a child whose parent had a thread that was allocating never ends.

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace zeus::test {
namespace {

bool others_sleep() try {
  const FileTree machine;
  const std::string own = std::to_string(::gettid());
  return std::ranges::all_of(machine.list("proc/self/task"), [&](const std::string& thread) {
    const auto stat = thread == own ? std::nullopt : machine.read(fmt::format("proc/self/task/{}/stat", thread));
    return !stat || stat->find(") S ") != std::string::npos;
  });
} catch (const Error&) {
  return true;  // a test may leave no descriptors
}

void await_others() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};  // some never sleep
  while (!others_sleep() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
}

[[maybe_unused]] const int registered = ::pthread_atfork(&await_others, nullptr, nullptr);

}  // namespace
}  // namespace zeus::test
