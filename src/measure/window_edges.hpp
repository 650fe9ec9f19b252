// The two edges of one window on every device that it measures. Shared between the window's owner and the sampler,
// which settles it; the mutex guards all that is not const.
#pragma once

#include "base/clock.hpp"
#include "measure/cpu_meter.hpp"
#include "measure/edge.hpp"
#include "measure/window_memory.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zeus::measure {

struct GpuEdges {
  int gpu = 0;
  std::uint64_t breaks_at_begin = 0;
  std::uint64_t breaks_at_end = 0;
  std::optional<Edge> begin;
  std::optional<Edge> end;
  bool begin_final = false;
  bool end_final = false;
  std::string why_broken;
};

struct CpuEdges {
  int cpu = 0;
  CpuMeter::Mark package_begin;
  CpuMeter::Mark package_end;
  CpuMeter::Mark memory_begin;
  CpuMeter::Mark memory_end;
};

struct WindowEdges {
  explicit WindowEdges(const std::shared_ptr<WindowMemory>& memory)
      : name{WindowAllocator<char>{memory}},
        gpus{WindowAllocator<GpuEdges>{memory}},
        cpus{WindowAllocator<CpuEdges>{memory}} {}

  mutable std::mutex mutex;
  std::uint64_t forks = 0;  // the process that opened it (fork_count)
  std::basic_string<char, std::char_traits<char>, WindowAllocator<char>> name;
  Instant begin;
  WallTime begin_wall;
  std::optional<Instant> end;
  std::vector<GpuEdges, WindowAllocator<GpuEdges>> gpus;
  std::vector<CpuEdges, WindowAllocator<CpuEdges>> cpus;
};

}  // namespace zeus::measure
