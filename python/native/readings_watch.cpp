#include "readings_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace zeus::python {

ReadingsWatch::ReadingsWatch(const std::vector<Gpu>& gpus, Read read, Seconds period,
                             std::optional<std::size_t> most_runs)
    : owner_{::getpid()},
      read_{std::move(read)},
      period_{period},
      most_runs_{most_runs},
      state_{std::make_unique<State>()} {
  for (const Gpu& gpu : gpus) {
    state_->watched.emplace(gpu.index(), Watched{.gpu = gpu, .runs = {}, .trouble = {}});
  }
  (void)read_all();  // so that there are readings from the start
  state_->thread = std::thread{[this] { run(); }};
}

ReadingsWatch::~ReadingsWatch() {
  if (is_ours()) {
    stop();
  } else {
    (void)state_.release();
  }
}

bool ReadingsWatch::is_ours() const {
  return owner_ == ::getpid();
}

void ReadingsWatch::stop() {
  if (!is_ours()) {
    return;
  }
  std::thread ended;
  {
    const std::lock_guard guard{state_->mutex};
    state_->stopping = true;
    ended = std::move(state_->thread);
  }
  state_->wake.notify_all();
  if (ended.joinable()) {
    ended.join();
  }
}

bool ReadingsWatch::running() const {
  if (!is_ours()) {
    return false;
  }
  const std::lock_guard guard{state_->mutex};
  return !state_->stopping;
}

std::vector<ReadingsWatch::Run> ReadingsWatch::runs(int gpu, double since) const {
  if (!is_ours()) {
    return {};
  }
  const std::lock_guard guard{state_->mutex};
  const auto found = state_->watched.find(gpu);
  if (found == state_->watched.end()) {
    return {};
  }
  const std::deque<Run>& all = found->second.runs;
  const auto from = std::ranges::lower_bound(all, since, {}, &Run::last);
  return {from, all.end()};
}

std::string ReadingsWatch::trouble(int gpu) const {
  if (!is_ours()) {
    return "it was made before this process was forked";
  }
  const std::lock_guard guard{state_->mutex};
  const auto found = state_->watched.find(gpu);
  return found == state_->watched.end() ? "this GPU is not watched" : found->second.trouble;
}

void ReadingsWatch::run() {
  for (;;) {
    const Seconds spent = read_all();
    std::unique_lock lock{state_->mutex};
    const auto rest = std::chrono::duration<double>{std::max(0.0, (period_ - spent).value())};
    if (state_->wake.wait_for(lock, rest, [this] { return state_->stopping; })) {
      return;
    }
  }
}

Seconds ReadingsWatch::read_all() {
  std::optional<double> began;
  double ended = 0;
  // The map itself never changes; its contents change under the lock. The driver is read without the lock.
  for (auto& [index, watched] : state_->watched) {
    const auto reading = read_(watched.gpu);
    if (reading) {
      began = began.value_or(reading->first);
      ended = reading->first;
    }
    const std::lock_guard guard{state_->mutex};
    take_in(watched, reading);
  }
  return Seconds{began ? ended - *began : 0.0};
}

void ReadingsWatch::take_in(Watched& watched, const Reading<std::pair<double, double>>& reading) const {
  if (!reading) {
    watched.trouble = to_string(reading.failure());
    return;
  }
  watched.trouble.clear();
  const auto [at, value] = *reading;
  if (!watched.runs.empty() && watched.runs.back().value == value) {
    watched.runs.back().last = at;
    return;
  }
  watched.runs.push_back({.first = at, .last = at, .value = value});
  if (most_runs_ && watched.runs.size() > *most_runs_) {
    watched.runs.pop_front();
  }
}

}  // namespace zeus::python
