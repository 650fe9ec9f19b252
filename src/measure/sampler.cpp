#include "measure/sampler.hpp"

#include "base/background_thread.hpp"
#include "base/cpu_time.hpp"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::measure {

namespace {

constexpr Seconds longest_pause{1};

}  // namespace

Sampler::Sampler(Devices devices, Clock& clock, Polled polled)
    : devices_{std::move(devices)},
      clock_{clock},
      polled_{polled},
      stillness_{static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))} {
  for (const auto& gpu : devices_.gpus) {
    gpus_.push_back(std::make_unique<GpuMeter>(gpu));
  }
  for (const auto& cpu : devices_.cpus) {
    packages_.push_back(std::make_unique<CpuMeter>(cpu, device::CpuDomain::package));
    memories_.push_back(std::make_unique<CpuMeter>(cpu, device::CpuDomain::dram));
  }
  followed_.reserve(tidy_at_);
  batch_.reserve(tidy_at_);
  gpu_uses_.resize(gpus_.size());
  cpu_uses_.resize(packages_.size());
}

Sampler::~Sampler() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

CpuMeter& Sampler::cpu(int index, device::CpuDomain domain) const {
  const auto& meters = domain == device::CpuDomain::package ? packages_ : memories_;
  return *meters.at(static_cast<std::size_t>(index));
}

void Sampler::use(const Watched& watched) {
  const std::lock_guard guard{mutex_};
  ++users_;
  bool woken = false;
  const auto count = [&woken](std::vector<Use>& uses, const std::vector<int>& indices) {
    for (const int index : indices) {
      Use& use = uses.at(static_cast<std::size_t>(index));
      ++use.count;
      if (!std::exchange(use.awake, true)) {
        woken = true;
        use.due = Instant{};
      }
    }
  };
  count(gpu_uses_, watched.gpus);
  count(cpu_uses_, watched.cpus);
  if (running_ && woken) {
    woken_ = true;
    wake_.notify_all();
  }
  if (running_) {
    return;
  }
  if (thread_.joinable()) {
    thread_.join();  // it has left its loop already
  }
  running_ = true;
  started_ = clock_.now();
  if (polled_ == Polled::by_caller) {
    return;
  }
  thread_ = background_thread([this] { run(); });
}

void Sampler::release(const Watched& watched) {
  const std::lock_guard guard{mutex_};
  const Instant now = clock_.now();
  const auto count = [now](std::vector<Use>& uses, const std::vector<int>& indices) {
    for (const int index : indices) {
      Use& use = uses.at(static_cast<std::size_t>(index));
      --use.count;
      use.idle_since = now;
    }
  };
  count(gpu_uses_, watched.gpus);
  count(cpu_uses_, watched.cpus);
  if (--users_ == 0) {
    idle_since_ = now;
  }
}

void Sampler::run() {
  ::pthread_setname_np(::pthread_self(), "zeus-sampler");
  Seconds cpu_before = thread_cpu_time();
  while (const auto next = poll()) {
    const Seconds cpu_now = thread_cpu_time();
    std::unique_lock lock{mutex_};
    cpu_ += cpu_now - cpu_before;
    cpu_before = cpu_now;
    if (!stopping_ && !woken_) {
      clock_.wait_until(lock, wake_, *next);
    }
    woken_ = false;
  }
}

Seconds Sampler::stood_still() const {
  return stillness_.total(clock_.now(), process_cpu_time());
}

std::optional<Instant> Sampler::poll() {
  const Instant now = clock_.now();
  stillness_.mark(now, now, process_cpu_time());
  const std::optional<Instant> next = take_turn();
  if (next) {
    stillness_.mark(clock_.now(), *next, process_cpu_time());
  } else {
    stillness_.rest();
  }
  return next;
}

std::optional<Instant> Sampler::take_turn() {
  Instant leave{std::numeric_limits<std::int64_t>::max()};
  {
    const std::lock_guard guard{mutex_};
    if (!running_) {
      return std::nullopt;
    }
    if (users_ == 0) {
      leave = idle_since_ + linger;
    }
    if (stopping_ || clock_.now() >= leave) {
      pause_all();
      ran_ += clock_.now() - started_;
      running_ = false;
      return std::nullopt;
    }
  }
  const Instant next = std::min(read_all(), leave);
  settle_followed();
  const std::lock_guard guard{mutex_};
  progressed_.notify_all();
  return next;
}

void Sampler::pause_all() {
  for (const auto& gpu : gpus_) {
    gpu->pause();
  }
  for (std::size_t i = 0; i < packages_.size(); ++i) {
    packages_[i]->pause();
    memories_[i]->pause();
  }
  for (auto* const uses : {&gpu_uses_, &cpu_uses_}) {
    for (Use& use : *uses) {
      use.awake = false;
    }
  }
}

template <typename Meter>
bool Sampler::awake(Use& use, Meter& meter) {
  const std::lock_guard guard{mutex_};
  if (use.awake && use.count == 0 && clock_.now() - use.idle_since >= linger) {
    use.awake = false;
    meter.pause();
  }
  return use.awake;
}

Instant Sampler::read_all() {
  Instant now = clock_.now();
  Instant next = now + longest_pause;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    Use& use = gpu_uses_[i];
    if (!awake(use, *gpus_[i])) {
      continue;
    }
    if (use.due <= now) {
      use.due = gpus_[i]->poll(clock_, spent_);
      now = clock_.now();
    }
    next = std::min(next, use.due);
  }
  for (std::size_t i = 0; i < packages_.size(); ++i) {
    if (!awake(cpu_uses_[i], *packages_[i])) {
      continue;
    }
    for (CpuMeter* const meter : {packages_[i].get(), memories_[i].get()}) {
      if (meter->present()) {
        next = std::min(next, meter->poll(now));
      }
    }
  }
  return next;
}

void Sampler::follow(const std::shared_ptr<WindowEdges>& edges) {
  const std::lock_guard guard{followed_mutex_};
  // Most windows end in the order in which they began: their memory is for the next one.
  while (!followed_.empty() && followed_.back().expired()) {
    followed_.pop_back();
  }
  followed_.push_back(edges);
  if (followed_.size() >= tidy_at_) {
    std::erase_if(followed_, [](const auto& weak) { return weak.expired(); });
    tidy_at_ = std::max<std::size_t>(64, 2 * followed_.size());
  }
}

void Sampler::settle_followed() {
  {
    const std::lock_guard guard{followed_mutex_};
    batch_.swap(followed_);
  }
  // A window that is still unsettled is followed further, unless its last owner has gone.
  std::erase_if(batch_, [this](const std::weak_ptr<WindowEdges>& weak) {
    const auto edges = weak.lock();
    return !edges || settle(*edges);
  });
  const std::lock_guard guard{followed_mutex_};
  followed_.insert(followed_.end(), batch_.begin(), batch_.end());
  batch_.clear();
  tidy_at_ = std::max<std::size_t>(64, 2 * followed_.size());
}

bool Sampler::settle(WindowEdges& edges) const {
  const std::lock_guard guard{edges.mutex};
  bool all = true;
  for (GpuEdges& gpu : edges.gpus) {
    const GpuMeter& meter = *gpus_[static_cast<std::size_t>(gpu.gpu)];
    const bool broken = meter.breaks() != gpu.breaks_at_begin;
    if (!gpu.begin_final && !broken) {
      if (auto edge = meter.edge(edges.begin)) {
        gpu.begin = edge;
        gpu.begin_final = meter.final(edges.begin);
      }
    }
    if (edges.end && !gpu.end_final && meter.breaks() == gpu.breaks_at_end) {
      if (auto edge = meter.edge(*edges.end)) {
        gpu.end = edge;
        gpu.end_final = meter.final(*edges.end);
      }
    }
    all = all && (broken || (gpu.begin_final && (gpu.end_final || !edges.end)));
  }
  return all;
}

void Sampler::wait(Instant deadline) {
  std::unique_lock lock{mutex_};
  clock_.wait_until(lock, progressed_, deadline);
}

SamplerCost Sampler::cost() const {
  const std::lock_guard guard{mutex_};
  const Seconds ran = ran_ + (running_ ? clock_.now() - started_ : Seconds{0});
  const Seconds driver{static_cast<double>(spent_.driver_ns.load()) * 1e-9};
  return {.running = ran, .busy = std::max(Seconds{0}, cpu_ - driver), .driver = driver};
}

bool Sampler::running() const {
  const std::lock_guard guard{mutex_};
  return running_;
}

}  // namespace zeus::measure
