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

// For the GPUs among `gpus` that `monitor` measures; `gpus` is the list that the monitor was made from. `open_book` is
// called when something is to be set for the first time, and again after it has thrown.
SessionParts live_parts(std::shared_ptr<Monitor> monitor, const std::vector<std::shared_ptr<device::Gpu>>& gpus,
                        std::function<control::LeaseBook()> open_book, Clock& clock);

}  // namespace zeus::train
