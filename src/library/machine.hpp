// The devices of this machine as libzeus.so measures and sets them: found once per process, with one sampler for every
// language that shares it. Any thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "device/backend.hpp"
#include "measure/sampler_source.hpp"

#include <memory>
#include <vector>

namespace zeus::library {

struct Machine {
  Clock& clock;
  Environment environment;
  std::vector<device::DiscoveredGpu> gpus;  // all there are, visible or not
  std::shared_ptr<measure::SamplerSource> sensors;
};

const Machine& this_machine();

}  // namespace zeus::library
