// Hands out the sampler of this process; in a forked child, a new one with reopened devices.
// Any thread.
#pragma once

#include "measure/fork_guard.hpp"
#include "measure/sampler.hpp"

#include <memory>

namespace zeus::measure {

class SamplerSource {
 public:
  // `clock` outlives the source.
  SamplerSource(Sampler::Devices devices, Clock& clock, Sampler::Polled polled = Sampler::Polled::by_own_thread);
  SamplerSource(const SamplerSource&) = delete;
  SamplerSource& operator=(const SamplerSource&) = delete;
  ~SamplerSource();

  [[nodiscard]] std::shared_ptr<Sampler> sampler();

 private:
  ForkMutex mutex_;
  std::shared_ptr<Sampler> sampler_;
  std::uint64_t made_after_forks_;
};

}  // namespace zeus::measure
