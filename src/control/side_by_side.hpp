// Works on several GPUs at once, each in a thread of its own, so that one that hangs in its driver holds up no other.
// One thread starts the work and asks for what is done; the work itself runs in others. Waits at its end for all of it.
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

  // Has `work`, which throws nothing, done on this GPU, on which none is under way. Where no thread can be had it is
  // done before this returns.
  void start(const std::string& gpu, const std::function<void()>& work);
  [[nodiscard]] bool is_at_work_on(const std::string& gpu) const { return threads_.contains(gpu); }

  struct Finished {
    std::string gpu;
    Seconds took;
  };
  // Once each; they are no longer at work from then on.
  std::vector<Finished> take_finished();
  // Readable while take_finished() has something to give; -1 where the kernel has no such thing.
  [[nodiscard]] int has_finished() const { return event_.get(); }

 private:
  void finish(const std::string& gpu, Instant began);

  const Clock& clock_;
  FileDescriptor event_;
  std::map<std::string, std::thread> threads_;  // by GPU; none that runs where the work was done without one
  std::mutex mutex_;                            // of what follows
  std::vector<Finished> finished_;
};

}  // namespace zeus::control
