// The devices of this machine as libzeus.so measures them: found once per process, with one sampler for every language
// that shares it. Any thread.
#pragma once

#include "measure/sampler_source.hpp"

#include <memory>

namespace zeus::library {

std::shared_ptr<measure::SamplerSource> this_machine();

}  // namespace zeus::library
