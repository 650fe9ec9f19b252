// The figures of the report on a recurring job, as far as there is data for them. Pure functions; any thread.
#pragma once

#include "records/charts.hpp"
#include "records/job_view.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::report {

// What a whole run will probably take at a batch size under a limit.
struct RunPoint {
  int batch_size = 0;
  Watts limit;
  Joules energy;
  Seconds time;
  Joules cost;
  bool on_front = false;  // no other point takes less time and less energy
  bool is_default = false;
  bool chosen = false;  // the job would run this next
};

// For every batch size with known epochs and limits; ascending by batch size and limit.
std::vector<RunPoint> run_points(const records::JobView& job);

// The expected epochs of a run: the policy's, or the mean of the runs that reached the target.
std::optional<double> expected_epochs(const records::JobView& job, const records::ArmView& arm);

// A mark's x is the number of the recurrence before which something happened.
using Marks = std::vector<records::ChartMark>;

records::XyChart beliefs_figure(const records::JobView& job);
records::XyChart choices_figure(const records::JobView& job, const Marks& marks);
records::XyChart limits_figure(const records::JobView& job, const Marks& marks);
// `really_run` is what the default cost beside each recurrence; empty if it was not run.
records::XyChart costs_figure(const records::JobView& job, const Marks& marks, const std::vector<Joules>& really_run);
records::XyChart front_figure(const std::vector<RunPoint>& points);
// For the most interesting batch sizes, if there are too many to distinguish.
records::XyChart epoch_energy_figure(const records::JobView& job);
records::XyChart epoch_time_figure(const records::JobView& job);
// How much more a run costs than the cheapest, by batch size and limit.
records::GridChart landscape_figure(const std::vector<RunPoint>& points);

}  // namespace zeus::report
