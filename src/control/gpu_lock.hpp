// The locks of one GPU, on one file, among all processes of the machine and all threads of this process. Byte 0 is
// locked while the record or the GPU is worked on; a lease's byte is locked while the lease lives. The file exists only
// while a process works or holds a lease: the last to finish removes it, and a process that begins makes sure that it
// has locked the file that is still there. The locks are the kernel's record locks, because a forked child does not
// inherit them and they vanish with the process, however it ends. So neither a reused process ID nor a surviving child
// can make a dead holder look alive.
//
// Threads: any. Such a lock is lost when the process closes any descriptor of the file. Therefore only GpuLock opens
// the file, and opens it again only if another file has taken its place.
#pragma once

#include "base/clock.hpp"

#include <zeus/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace zeus::control {

class GpuLock {
 public:
  // The lock on `file`, the same one for all callers in this process. A forked child has its own, which holds nothing.
  static std::shared_ptr<GpuLock> on(const std::filesystem::path& file);

  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  ~GpuLock();

  // While it lives, its owner works on the GPU alone.
  class Work {
   public:
    explicit Work(GpuLock& lock) : lock_{&lock} {}
    Work(Work&& other) noexcept : lock_{std::exchange(other.lock_, nullptr)} {}
    Work& operator=(Work&&) = delete;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work();

   private:
    GpuLock* lock_;
  };
  // Waits for other threads and processes that work on the GPU; if they do not finish within `patience`, throws a
  // timeout Error that names them. Like all members that look at the file, throws an Error if it cannot be made or
  // opened.
  [[nodiscard]] Work begin_work(Clock& clock, Seconds patience);

  // The process that works on it now: 0 if there is none, or none that can be seen from here.
  [[nodiscard]] std::int64_t worker() const;

  // The locks of leases, by number. Taken and returned while working; they may be looked at at any time.
  void hold(std::int64_t lease);
  void let_go(std::int64_t lease);
  [[nodiscard]] bool is_held(std::int64_t lease) const;
  // A process that holds some lease, if it can be told which (see worker()); nothing if none is held.
  [[nodiscard]] std::optional<std::int64_t> holder() const;

 private:
  struct State;
  [[nodiscard]] Error busy(Seconds patience) const;
  explicit GpuLock(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace zeus::control
