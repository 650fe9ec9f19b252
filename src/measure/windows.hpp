// The implementation of zeus::Monitor: the open windows by name. Rules of threads and forks as in
// zeus/measure.hpp.
#pragma once

#include "measure/fork_guard.hpp"
#include "measure/sampler_source.hpp"
#include "measure/window_edges.hpp"
#include "measure/window_log.hpp"
#include "measure/window_memory.hpp"

#include <zeus/measure.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zeus::measure {

// Keeps a sampler at work for as long as it lives; in a forked child it does nothing.
class SamplerUse {
 public:
  SamplerUse(std::shared_ptr<Sampler> sampler, std::shared_ptr<const Sampler::Watched> watched);
  SamplerUse(const SamplerUse&) = delete;
  SamplerUse& operator=(const SamplerUse&) = delete;
  ~SamplerUse();

 private:
  std::shared_ptr<Sampler> sampler_;
  std::shared_ptr<const Sampler::Watched> watched_;
  std::uint64_t forks_ = fork_count();
};

class Windows {
 public:
  // A requested device that does not exist is a not_found Error.
  Windows(std::shared_ptr<SamplerSource> source, const MonitorOptions& options);
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;
  ~Windows();

  void begin(std::string_view name, bool restart);
  void end(std::string_view name, Measurement& into);
  [[nodiscard]] Measurement so_far(std::string_view name);
  Measurement settle(const Measurement& measurement, Seconds patience);
  void cancel(std::string_view name);
  void reset();
  [[nodiscard]] std::unique_ptr<SamplerUse> listen();

  [[nodiscard]] const std::vector<int>& gpus() const { return watched_->gpus; }
  [[nodiscard]] const std::vector<int>& cpus() const { return watched_->cpus; }
  // The sampler of this process, for timelines. expect_gpu() throws an Error if the GPU is not measured.
  [[nodiscard]] std::shared_ptr<Sampler> sampler() const { return source_->sampler(); }
  void expect_gpu(int gpu) const;

 private:
  // An open window: its edges, the sampler that it uses, and the devices that it needs of it.
  struct Open {
    std::shared_ptr<WindowEdges> edges;
    std::shared_ptr<Sampler> sampler;
    std::shared_ptr<const Sampler::Watched> watched;
    std::uint64_t forks = fork_count();
  };
  [[nodiscard]] std::shared_ptr<WindowEdges> make_edges(std::string_view name) const;
  [[nodiscard]] Open take(std::string_view name, bool only_look);
  // Waits for the GPUs. If that fails, the window is dropped.
  void synchronize(const Open& open);
  static void let_go(const Open& open);
  void mark_begin(const Sampler& sampler, WindowEdges& edges) const;
  void mark_end(const Sampler& sampler, WindowEdges& edges) const;
  // The edges of a window that began with the given one and can be ended without it.
  [[nodiscard]] std::shared_ptr<WindowEdges> same_beginning(const WindowEdges& edges) const;
  // Marks the end of `edges`, and computes what the window measured.
  void measure(Sampler& sampler, const std::shared_ptr<WindowEdges>& edges, Measurement& into) const;
  [[nodiscard]] Measurement lost_by_fork(const WindowEdges& edges) const;

  // By name; the edges own the strings.
  using OpenWindows = std::unordered_map<std::string_view, Open, std::hash<std::string_view>, std::equal_to<>,
                                         WindowAllocator<std::pair<const std::string_view, Open>>>;

  std::shared_ptr<SamplerSource> source_;
  std::shared_ptr<const Sampler::Watched> watched_;
  std::shared_ptr<WindowMemory> memory_ = std::make_shared<WindowMemory>();
  std::function<void()> synchronize_;
  ForkMutex mutex_;
  OpenWindows open_{OpenWindows::allocator_type{memory_}};
  ForkMutex log_mutex_;
  std::vector<WindowLog> logs_;
};

// Computes the measurement from the present state of the edges. It reuses the memory of the former `result`.
void measurement_of(const Sampler& sampler, const std::shared_ptr<WindowEdges>& edges, bool settled,
                    Measurement& result);

}  // namespace zeus::measure
