// The locks of one GPU among all processes of the machine and all threads of this one, on one file. Byte 0 is held for
// as long as the record or the GPU is worked on; the byte of a lease is held for as long as the lease lives. The file
// is there only for as long as somebody works or holds a lease: who ends his work last removes it, and who begins makes
// sure that what he has locked is the file that is there. They are the kernel's record locks, which fit like no other:
// a forked child does not inherit them, and they are gone when the process is, whichever way it went, so that neither a
// number used again nor a child that lives on can make a dead holder look alive.
//
// Threads: any. Such a lock is lost when the process closes any descriptor of the file; hence it is opened by GpuLock
// alone, and a second time only when another one has taken its place.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace zeus::control {

class GpuLock {
 public:
  // The lock on `file`, the same one for all who ask in this process. A forked child has its own, which holds nothing.
  static std::shared_ptr<GpuLock> on(const std::filesystem::path& file);

  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  ~GpuLock();

  // Works on the GPU alone while it lives.
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
  // Waits for others that work on it; a timeout Error that names them when they do not come to an end by `patience`. An
  // Error when the file cannot be made or opened, as have all that look at it.
  [[nodiscard]] Work begin_work(Clock& clock, Seconds patience);

  // The process that works on it now, as this one can tell: 0 when nobody does, or none that is known here.
  [[nodiscard]] std::int64_t worker() const;

  // The locks of leases, by their number. Taken and given back while working; looked at at any time.
  void hold(std::int64_t lease);
  void let_go(std::int64_t lease);
  [[nodiscard]] bool is_held(std::int64_t lease) const;
  // A process that holds some lease, where this one can tell which (see worker()); nothing when nobody holds one.
  [[nodiscard]] std::optional<std::int64_t> holder() const;

 private:
  struct State;
  explicit GpuLock(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace zeus::control
