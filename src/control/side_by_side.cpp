#include "control/side_by_side.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <utility>

namespace zeus::control {

SideBySide::SideBySide(const Clock& clock) : clock_{clock}, event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
}

SideBySide::~SideBySide() {
  for (auto& [gpu, thread] : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void SideBySide::start(const std::string& gpu, const std::function<void()>& work) {
  const Instant began = clock_.now();
  std::thread& thread = threads_[gpu];
  try {
    thread = std::thread{[this, gpu, work, began] {
      work();
      finish(gpu, began);
    }};
  } catch (const std::system_error&) {
    work();
    finish(gpu, began);
  }
}

void SideBySide::finish(const std::string& gpu, Instant began) {
  const std::lock_guard guard{mutex_};
  finished_.push_back({gpu, clock_.now() - began});
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = ::write(event_.get(), &one, sizeof one);
}

std::vector<SideBySide::Finished> SideBySide::take_finished() {
  std::vector<Finished> taken;
  {
    const std::lock_guard guard{mutex_};
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(event_.get(), &count, sizeof count);
    taken = std::exchange(finished_, {});
  }
  for (const Finished& one : taken) {
    const auto at = threads_.find(one.gpu);
    if (at->second.joinable()) {
      at->second.join();
    }
    threads_.erase(at);
  }
  return taken;
}

}  // namespace zeus::control
