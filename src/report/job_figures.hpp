// The figures of the report on a recurring job, from what there is to show of it. Pure functions; any thread.
#pragma once

#include "records/findings.hpp"
#include "records/job_view.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::report {

// What a whole run is expected to take at a batch size under a limit.
struct RunPoint {
  int batch_size = 0;
  Watts limit;
  Joules energy;
  Seconds time;
  Joules cost;
  bool on_front = false;  // no other takes less of both
  bool is_default = false;
  bool chosen = false;  // what the job would run next
};

// Of every batch size whose epochs and limits are known; ascending by batch size and limit.
std::vector<RunPoint> run_points(const records::JobView& job);

// The epochs that a run is expected to need: as the policy has it, or the mean of those that reached the target.
std::optional<double> expected_epochs(const records::JobView& job, const records::ArmView& arm);

// A mark's x is the number of the recurrence before which something happened.
using Marks = std::vector<records::ChartMark>;

records::XyChart beliefs_figure(const records::JobView& job);
records::XyChart choices_figure(const records::JobView& job, const Marks& marks);
records::XyChart limits_figure(const records::JobView& job, const Marks& marks);
records::XyChart costs_figure(const records::JobView& job, const Marks& marks);
records::XyChart front_figure(const std::vector<RunPoint>& points);
// Of the batch sizes that are worth most looking at, when there are more than can be told apart.
records::XyChart epoch_energy_figure(const records::JobView& job);
records::XyChart epoch_time_figure(const records::JobView& job);
// How much dearer a run is than the cheapest, by batch size and limit.
records::GridChart landscape_figure(const std::vector<RunPoint>& points);

}  // namespace zeus::report
