#include "optimize/batch_size/job_spec.hpp"

#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace zeus::optimize {

namespace {

void require(bool holds, std::string what, std::string advice) {
  if (!holds) {
    throw Error{ErrorKind::invalid_argument, std::move(what), std::move(advice)};
  }
}

bool is_power(Watts power) {
  return std::isfinite(power.value()) && power.value() > 0.0;
}

void check_batch_sizes(const JobSpec& spec) {
  require(!spec.batch_sizes.empty(), "the job has no batch size to choose from", "give at least one");
  require(spec.batch_sizes.size() <= most_batch_sizes,
          fmt::format("the job has {} batch sizes", spec.batch_sizes.size()),
          fmt::format("give at most {}; batch sizes a tenth apart hardly differ", most_batch_sizes));
  require(spec.batch_sizes.front() > 0, fmt::format("a batch size is {}", spec.batch_sizes.front()),
          "give sizes above 0");
  const auto twin = std::ranges::adjacent_find(spec.batch_sizes);
  require(twin == spec.batch_sizes.end(), "a batch size is listed twice", "list each once");
  require(std::ranges::binary_search(spec.batch_sizes, spec.default_batch_size),
          fmt::format("the default batch size {} is not among the job's batch sizes {}", spec.default_batch_size,
                      fmt::join(spec.batch_sizes, ", ")),
          "give one of them");
}

void check_priors(const JobSpec& spec) {
  for (const PriorBelief& prior : spec.priors) {
    require(std::ranges::binary_search(spec.batch_sizes, prior.batch_size),
            fmt::format("a prior belief is about batch size {}, which is not in the set", prior.batch_size),
            "give beliefs about the job's batch sizes only");
    require(std::isfinite(prior.mean.value()) && std::isfinite(prior.deviation.value()) && prior.deviation > Joules{},
            fmt::format("the prior belief about batch size {} is not a normal distribution", prior.batch_size),
            "give a finite mean and a standard deviation above 0");
  }
}

}  // namespace

void JobSpec::move_to(const records::DeviceChanged& changed) {
  max_power = changed.max_power;
  if (!changed.power_limits.empty()) {
    power_limits = changed.power_limits;
  }
}

std::size_t JobSpec::arm_of(int batch_size) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(batch_sizes, batch_size) - batch_sizes.begin());
}

JobSpec checked(JobSpec spec) {
  static_cast<void>(EnergyTimeCost{spec.eta, spec.max_power});
  std::ranges::sort(spec.batch_sizes);
  check_batch_sizes(spec);
  require(spec.beta > 0.0, fmt::format("beta is {}", spec.beta),
          "give a number above 0, such as 2; `inf` never stops a run early");
  require(!spec.max_slowdown || *spec.max_slowdown >= 1.0,
          fmt::format("the largest slowdown is {}", spec.max_slowdown.value_or(1.0)),
          "give a factor of at least 1, such as 1.1");
  require(spec.max_epochs > 0 && spec.max_epochs <= most_epochs,
          fmt::format("the maximum number of epochs is {}", spec.max_epochs),
          fmt::format("give a number from 1 to {}", most_epochs));
  require(spec.zeus.pruning_rounds <= most_pruning_rounds,
          fmt::format("the number of pruning rounds is {}", spec.zeus.pruning_rounds),
          fmt::format("give a number from 0 to {}", most_pruning_rounds));
  require(spec.zeus.explorations <= most_explorations,
          fmt::format("the number of explorations of a batch size is {}", spec.zeus.explorations),
          fmt::format("give a number from 0 to {}", most_explorations));
  require(std::isfinite(spec.zeus.prior_cost.value()) && std::isfinite(spec.zeus.prior_precision) &&
              spec.zeus.prior_precision >= 0.0,
          "the prior belief about costs is not a normal distribution",
          "give a finite cost and a precision of at least 0");
  require(std::ranges::all_of(spec.power_limits, is_power), "a power limit is not a power above 0",
          "give power limits above 0 W");
  std::ranges::sort(spec.power_limits);
  check_priors(spec);
  return spec;
}

}  // namespace zeus::optimize
