// The parts of a session on a live machine: measured by a Monitor, set under leases. For composition roots and `zeus
// run`; one thread.
#pragma once

#include "base/clock.hpp"
#include "control/lease_book.hpp"
#include "device/gpu.hpp"
#include "train/session_parts.hpp"

#include <zeus/measure.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace zeus::train {

// The GPUs that `monitor` measures, of `gpus`, which is the list that it was made from. `open_book` is called when
// something is to be set for the first time, and again as long as it throws.
SessionParts live_parts(std::shared_ptr<Monitor> monitor, const std::vector<std::shared_ptr<device::Gpu>>& gpus,
                        std::function<control::LeaseBook()> open_book, Clock& clock);

}  // namespace zeus::train
