// The parts of a session on a live machine: measured by a Monitor, set under leases. For composition roots and `zeus
// run`; one thread.
#pragma once

#include "base/clock.hpp"
#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "device/gpu.hpp"
#include "device/watt_range.hpp"
#include "train/session_parts.hpp"

#include <zeus/measure.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace zeus::train {

// The power limits that a policy allows this process on the GPU with this UUID (SessionGpu::allowed).
using AllowedLimits = std::function<std::vector<device::WattRange>(std::string_view uuid)>;
// As `lessor` knows them. It may be null: then no policy bounds anything.
AllowedLimits allowed_limits_of(std::shared_ptr<const control::Lessor> lessor);

// The GPUs among `gpus` that `monitor` measures; `gpus` is the list that the monitor was made from.
std::vector<SessionGpu> session_gpus(const Monitor& monitor, const std::vector<std::shared_ptr<device::Gpu>>& gpus,
                                     const AllowedLimits& allowed);

// A session over `gpus`, which `monitor` measures. `open_book` is called when something is to be set for the first
// time, and again after it has thrown.
SessionParts live_parts(std::shared_ptr<Monitor> monitor, std::vector<SessionGpu> gpus,
                        std::function<control::LeaseBook()> open_book, Clock& clock);

}  // namespace zeus::train
