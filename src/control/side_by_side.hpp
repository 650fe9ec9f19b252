// Works on several GPUs at once, each in its own thread, so that a GPU that hangs in its driver does not delay the
// others. One thread starts the work and collects the results; other threads do the work. The destructor waits for all
// of them.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zeus::control {

class SideBySide {
 public:
  explicit SideBySide(const Clock& clock);
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;
  ~SideBySide();

  // Runs `work`, which throws nothing, for a GPU that has none under way. If no thread can be started, it runs before
  // this returns.
  void start(const std::string& gpu, const std::function<void()>& work);
  [[nodiscard]] bool is_at_work_on(const std::string& gpu) const { return threads_.contains(gpu); }

  struct Finished {
    std::string gpu;
    Seconds took;
  };
  // Each finished GPU is returned once; it is no longer at work from then on.
  std::vector<Finished> take_finished();
  // Readable while take_finished() has something to return; -1 if the kernel has no such descriptor.
  [[nodiscard]] int has_finished() const { return event_.get(); }

 private:
  void finish(const std::string& gpu, Instant began);

  const Clock& clock_;
  FileDescriptor event_;
  std::map<std::string, std::thread> threads_;  // by GPU; not running if the work was done without one
  std::mutex mutex_;                            // guards what follows
  std::vector<Finished> finished_;
};

}  // namespace zeus::control
