// The six workloads of the NSDI'23 paper with its targets, as its traces name them. Constants.
#pragma once

#include "simulate/workload.hpp"

#include <vector>

namespace zeus::research {

// In the order of the paper's table 1.
const std::vector<simulate::JobSelection>& published_jobs();

// One of them on a GPU. The default batch size is the paper's if the traces have it, otherwise their largest.
simulate::Workload select_published(const trace::TrainTrace& train, const trace::PowerTrace& power,
                                    simulate::JobSelection job);

}  // namespace zeus::research
