// The locks of one GPU among all processes of the machine and all threads of this one, on one file that is never
// removed. Byte 0 is held for as long as the record or the GPU is worked on; the byte of a lease is held for as long as
// the lease lives. They are the kernel's record locks, which fit like no other: a forked child does not inherit them,
// and they are gone when the process is, whichever way it went, so that neither a number used again nor a child that
// lives on can make a dead holder look alive.
//
// Threads: any. Such a lock is lost when the process closes any descriptor of the file; hence the file is opened once
// per process, by GpuLock alone, and stays open.
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
  // Waits for others that work on it; a timeout Error that names them when they do not come to an end by `patience`.
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
