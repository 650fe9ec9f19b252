#include "measure/sampler_source.hpp"

namespace zeus::measure {

namespace {

// The copy of the parent's sampler has a thread that does not exist here and locks that may never be released: it is
// left alone.
void abandon(std::shared_ptr<Sampler> sampler) {
  (void)new std::shared_ptr<Sampler>{std::move(sampler)};
}

}  // namespace

SamplerSource::SamplerSource(Sampler::Devices devices, Clock& clock, Sampler::Polled polled)
    : sampler_{std::make_shared<Sampler>(std::move(devices), clock, polled)}, made_after_forks_{fork_count()} {
}

SamplerSource::~SamplerSource() {
  if (made_after_forks_ != fork_count()) {
    abandon(std::move(sampler_));
  }
}

std::shared_ptr<Sampler> SamplerSource::sampler() {
  const std::lock_guard guard{mutex_};
  if (made_after_forks_ != fork_count()) {
    made_after_forks_ = fork_count();
    const Sampler::Devices devices = sampler_->devices();
    Clock& clock = sampler_->clock();
    const Sampler::Polled polled = sampler_->polled();
    abandon(std::move(sampler_));
    // A device that cannot be opened reports that in each of its readings.
    for (const auto& gpu : devices.gpus) {
      (void)gpu->reopen();
    }
    for (const auto& cpu : devices.cpus) {
      (void)cpu->reopen();
    }
    sampler_ = std::make_shared<Sampler>(devices, clock, polled);
  }
  return sampler_;
}

}  // namespace zeus::measure
