#include "measure/windows.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace zeus::measure {

namespace {

std::vector<int> chosen(const std::optional<std::vector<int>>& asked, int count, std::string_view kind) {
  if (!asked) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<int> indices;
  for (const int index : *asked) {
    if (index < 0 || index >= count) {
      throw Error{ErrorKind::not_found, fmt::format("there is no {} {}", kind, index),
                  count == 0 ? fmt::format("no {} can be seen here; `zeus doctor` says why", kind)
                             : fmt::format("choose from 0 to {}", count - 1)};
    }
    if (std::ranges::find(indices, index) == indices.end()) {
      indices.push_back(index);
    }
  }
  return indices;
}

Error unknown_window(std::string_view name) {
  return Error{ErrorKind::not_found, fmt::format("there is no open window \"{}\"", name.substr(0, 64)),
               "begin it first; names are exact"};
}

}  // namespace

Windows::Windows(std::shared_ptr<SamplerSource> source, const MonitorOptions& options)
    : source_{std::move(source)},
      watched_{std::make_shared<const Sampler::Watched>(
          Sampler::Watched{.gpus = chosen(options.gpus, source_->sampler()->gpu_count(), "GPU"),
                           .cpus = chosen(options.cpus, source_->sampler()->cpu_count(), "CPU")})},
      synchronize_{options.synchronize} {
  if (!options.log.empty()) {
    logs_.emplace_back(options.log, LogForm::plain, gpus(), cpus());
  }
  if (!options.complete_log.empty()) {
    logs_.emplace_back(options.complete_log, LogForm::complete, gpus(), cpus());
  }
}

Windows::~Windows() {
  reset();
}

std::shared_ptr<WindowEdges> Windows::make_edges(std::string_view name) const {
  auto edges = std::allocate_shared<WindowEdges>(WindowAllocator<WindowEdges>{memory_}, memory_);
  edges->name = name;
  edges->forks = fork_count();
  edges->gpus.resize(gpus().size());
  for (std::size_t i = 0; i < gpus().size(); ++i) {
    edges->gpus[i].gpu = gpus()[i];
  }
  edges->cpus.resize(cpus().size());
  for (std::size_t i = 0; i < cpus().size(); ++i) {
    edges->cpus[i].cpu = cpus()[i];
  }
  return edges;
}

void Windows::begin(std::string_view name, bool restart) {
  const Open open{make_edges(name), source_->sampler(), watched_};
  // A thread that finds the window before its begin has been marked waits here.
  const std::lock_guard marking{open.edges->mutex};
  Open former;
  {
    const std::lock_guard guard{mutex_};
    const auto found = open_.find(name);
    if (found != open_.end() && !restart) {
      throw Error{ErrorKind::already_exists, fmt::format("a window \"{}\" is open already", name.substr(0, 64)),
                  "end it first, restart it, or choose another name"};
    }
    open.sampler->use(*watched_);
    if (found != open_.end()) {
      former = std::move(found->second);
      open_.erase(found);
    }
    open_.emplace(open.edges->name, open);
  }
  let_go(former);
  if (synchronize_) {
    synchronize(open);
  }
  mark_begin(*open.sampler, *open.edges);
  open.sampler->follow(open.edges);
}

void Windows::mark_begin(const Sampler& sampler, WindowEdges& edges) const {
  edges.begin_wall = sampler.clock().wall();
  edges.begin = sampler.clock().now();
  for (GpuEdges& gpu : edges.gpus) {
    gpu.breaks_at_begin = sampler.gpu(gpu.gpu).mark();
  }
  for (CpuEdges& cpu : edges.cpus) {
    cpu.package_begin = sampler.cpu(cpu.cpu, device::CpuDomain::package).mark();
    if (CpuMeter& memory = sampler.cpu(cpu.cpu, device::CpuDomain::dram); memory.present()) {
      cpu.memory_begin = memory.mark();
    }
  }
}

void Windows::mark_end(const Sampler& sampler, WindowEdges& edges) const {
  const std::lock_guard guard{edges.mutex};
  edges.end = sampler.clock().now();
  for (GpuEdges& gpu : edges.gpus) {
    gpu.breaks_at_end = sampler.gpu(gpu.gpu).mark();
    if (gpu.breaks_at_end != gpu.breaks_at_begin) {
      gpu.why_broken = sampler.gpu(gpu.gpu).why_broken();
    }
  }
  for (CpuEdges& cpu : edges.cpus) {
    cpu.package_end = sampler.cpu(cpu.cpu, device::CpuDomain::package).mark();
    if (CpuMeter& memory = sampler.cpu(cpu.cpu, device::CpuDomain::dram); memory.present()) {
      cpu.memory_end = memory.mark();
    }
  }
}

Windows::Open Windows::take(std::string_view name, bool only_look) {
  const std::lock_guard guard{mutex_};
  const auto found = open_.find(name);
  if (found == open_.end()) {
    throw unknown_window(name);
  }
  Open open = found->second;
  if (!only_look) {
    open_.erase(found);
  }
  return open;
}

void Windows::synchronize(const Open& open) {
  try {
    synchronize_();
  } catch (...) {
    bool dropped = false;
    {
      const std::lock_guard guard{mutex_};
      const auto found = open_.find(open.edges->name);
      // Meanwhile, another thread may have ended the window, or opened one of the same name.
      if (found != open_.end() && found->second.edges == open.edges) {
        open_.erase(found);
        dropped = true;
      }
    }
    if (dropped) {
      let_go(open);
    }
    throw;
  }
}

// A sampler from before a fork is left alone: its locks may never be released.
void Windows::let_go(const Open& open) {
  if (open.sampler && open.forks == fork_count()) {
    open.sampler->release(*open.watched);
  }
}

void Windows::end(std::string_view name, Measurement& into) {
  if (synchronize_) {
    synchronize(take(name, true));
  }
  const Open open = take(name, false);
  if (open.forks != fork_count()) {
    into = lost_by_fork(*open.edges);
  } else {
    measure(*open.sampler, open.edges, into);
    let_go(open);
  }
  const std::lock_guard guard{log_mutex_};
  for (WindowLog& log : logs_) {
    log.add(into);
  }
}

void Windows::measure(Sampler& sampler, const std::shared_ptr<WindowEdges>& edges, Measurement& into) const {
  mark_end(sampler, *edges);
  const bool settled = sampler.settle(*edges);
  measurement_of(sampler, edges, settled, into);
  if (!settled) {
    sampler.follow(edges);
  }
}

std::shared_ptr<WindowEdges> Windows::same_beginning(const WindowEdges& edges) const {
  const std::lock_guard guard{edges.mutex};
  auto same = make_edges(edges.name);
  same->begin = edges.begin;
  same->begin_wall = edges.begin_wall;
  same->gpus = edges.gpus;
  same->cpus = edges.cpus;
  return same;
}

Measurement Windows::so_far(std::string_view name) {
  const Open open = take(name, true);
  if (open.forks != fork_count()) {
    return lost_by_fork(*open.edges);
  }
  Measurement result;
  measure(*open.sampler, same_beginning(*open.edges), result);
  return result;
}

Measurement Windows::lost_by_fork(const WindowEdges& edges) const {
  static constexpr const char* reason = "the process was forked while the window was open";
  Measurement result;
  result.window = std::string_view{edges.name};
  result.start = edges.begin - Instant{};
  result.end = source_->sampler()->clock().now() - Instant{};
  result.start_wall = static_cast<double>(edges.begin_wall.microseconds_since_epoch) * 1e-6;
  result.settled = true;
  for (const int gpu : gpus()) {
    result.gpu_energy[gpu] = {.energy = {}, .reason = reason, .remark = {}};
    result.gpu_throttle[gpu] = {};
  }
  for (const int cpu : cpus()) {
    result.cpu_energy[cpu] = {.energy = {}, .reason = reason, .remark = {}};
  }
  return result;
}

Measurement Windows::settle(const Measurement& measurement, Seconds patience) {
  const std::shared_ptr<Sampler> sampler = source_->sampler();
  if (measurement.settled || !measurement.edges || measurement.edges->forks != fork_count()) {
    return measurement;
  }
  const SamplerUse use{sampler, watched_};
  const Instant deadline = sampler->clock().now() + patience;
  bool settled = sampler->settle(*measurement.edges);
  while (!settled && sampler->clock().now() < deadline) {
    sampler->wait(deadline);
    settled = sampler->settle(*measurement.edges);
  }
  Measurement result;
  measurement_of(*sampler, measurement.edges, settled, result);
  return result;
}

void Windows::cancel(std::string_view name) {
  let_go(take(name, false));
}

void Windows::reset() {
  OpenWindows all{open_.get_allocator()};
  {
    const std::lock_guard guard{mutex_};
    all.swap(open_);
  }
  for (const auto& [name, open] : all) {
    let_go(open);
  }
}

std::unique_ptr<SamplerUse> Windows::listen() {
  return std::make_unique<SamplerUse>(source_->sampler(), watched_);
}

SamplerUse::SamplerUse(std::shared_ptr<Sampler> sampler, std::shared_ptr<const Sampler::Watched> watched)
    : sampler_{std::move(sampler)}, watched_{std::move(watched)} {
  sampler_->use(*watched_);
}

SamplerUse::~SamplerUse() {
  if (forks_ == fork_count()) {
    sampler_->release(*watched_);
  }
}

void Windows::expect_gpu(int gpu) const {
  if (std::ranges::find(gpus(), gpu) != gpus().end()) {
    return;
  }
  const std::shared_ptr<Sampler> sampler = source_->sampler();
  const auto named = [&sampler](int number) {
    return number >= 0 && number < sampler->gpu_count() ? device::to_text(sampler->gpu(number).gpu().identity(), number)
                                                        : fmt::format("GPU {}", number);
  };
  std::vector<std::string> measured;
  std::ranges::transform(gpus(), std::back_inserter(measured), named);
  throw Error{ErrorKind::not_found, fmt::format("{} is not measured by this monitor", named(gpu)),
              measured.empty() ? "it measures no GPU" : fmt::format("it measures {}", fmt::join(measured, ", "))};
}

}  // namespace zeus::measure
