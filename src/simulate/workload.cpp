#include "simulate/workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace zeus::simulate {

namespace {

constexpr int most_gpus = 100'000;

bool reaches(const std::optional<int>& epochs, int max_epochs) {
  return epochs && *epochs <= max_epochs;
}

std::string workload_name(const JobSelection& job) {
  return fmt::format("{}/{}/{}", job.dataset, job.network, job.optimizer);
}

template <typename Row>
bool is_of(const Row& row, const JobSelection& job) {
  return row.dataset == job.dataset && row.network == job.network && row.optimizer == job.optimizer;
}

template <typename Rows>
std::string workloads_of(const Rows& rows) {
  std::set<std::string> titles;
  for (const auto& row : rows) {
    titles.insert(fmt::format("{}/{}/{}", row.dataset, row.network, row.optimizer));
  }
  return titles.empty() ? "no rows at all" : fmt::format("{}", fmt::join(titles, ", "));
}

std::map<int, std::vector<std::optional<int>>> runs_of(const trace::TrainTrace& train, const JobSelection& job) {
  std::map<int, std::vector<std::optional<int>>> runs;
  std::set<double> targets;
  for (const trace::TrainRun& run : train.runs) {
    if (is_of(run, job)) {
      targets.insert(run.target_metric);
      if (run.target_metric == job.target_metric) {
        runs[run.batch_size].push_back(run.target_epoch);
      }
    }
  }
  if (targets.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} has no workload {}", train.name, workload_name(job)),
                fmt::format("it has {}", workloads_of(train.runs))};
  }
  if (runs.empty()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} has no target metric {} for {}", train.name, job.target_metric, workload_name(job)),
                fmt::format("it has {}", fmt::join(targets, ", "))};
  }
  return runs;
}

std::map<int, std::vector<records::LimitProfile>> limits_of(const trace::PowerTrace& power, const JobSelection& job) {
  std::map<int, std::vector<records::LimitProfile>> limits;
  for (const trace::PowerRow& row : power.rows) {
    if (!is_of(row, job)) {
      continue;
    }
    auto& known = limits[row.batch_size];
    const auto place = std::ranges::lower_bound(known, row.profile.limit, {}, &records::LimitProfile::limit);
    if (place != known.end() && place->limit == row.profile.limit) {
      throw Error{ErrorKind::corrupt_data,
                  fmt::format("{}:{}: batch size {} of {} at {} W is measured a second time", power.name, row.line,
                              row.batch_size, workload_name(job), row.profile.limit.value()),
                  "keep one row of each configuration"};
    }
    known.insert(place, row.profile);
  }
  if (limits.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} has no workload {}", power.name, workload_name(job)),
                fmt::format("it has {}", workloads_of(power.rows))};
  }
  return limits;
}

// Sorts runs so that row order does not matter: ascending epochs, those that never reached the target last.
void sort_runs(std::vector<std::optional<int>>& runs) {
  std::ranges::sort(runs, {}, [](const std::optional<int>& run) {
    return std::tuple{!run.has_value(), run.value_or(0)};
  });
}

}  // namespace

bool WorkloadArm::always_reaches(int max_epochs) const {
  return std::ranges::all_of(runs, [=](const std::optional<int>& run) { return reaches(run, max_epochs); });
}

bool WorkloadArm::ever_reaches(int max_epochs) const {
  return std::ranges::any_of(runs, [=](const std::optional<int>& run) { return reaches(run, max_epochs); });
}

double WorkloadArm::mean_epochs(int max_epochs) const {
  double sum = 0.0;
  int count = 0;
  for (const std::optional<int>& run : runs) {
    if (reaches(run, max_epochs)) {
      sum += *run;
      ++count;
    }
  }
  return sum / count;
}

std::size_t Workload::arm_of(int batch_size) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(arms, batch_size, {}, &WorkloadArm::batch_size) -
                                  arms.begin());
}

std::size_t Workload::limit_of(std::size_t arm, Watts limit) const {
  const auto& limits = arms[arm].limits;
  return static_cast<std::size_t>(std::ranges::lower_bound(limits, limit, {}, &records::LimitProfile::limit) -
                                  limits.begin());
}

std::vector<Watts> Workload::limits() const {
  std::set<Watts> all;
  for (const WorkloadArm& arm : arms) {
    for (const records::LimitProfile& profile : arm.limits) {
      all.insert(profile.limit);
    }
  }
  return {all.begin(), all.end()};
}

std::vector<int> Workload::batch_sizes() const {
  std::vector<int> sizes;
  for (const WorkloadArm& arm : arms) {
    sizes.push_back(arm.batch_size);
  }
  return sizes;
}

Workload select_workload(const trace::TrainTrace& train, const trace::PowerTrace& power, const JobSelection& job) {
  auto runs = runs_of(train, job);
  auto limits = limits_of(power, job);
  Workload workload{.name = workload_name(job),
                    .arms = {},
                    .max_epochs = job.max_epochs,
                    .default_batch_size = job.default_batch_size,
                    .max_limit = power.max_power,
                    .max_power = power.max_power};
  for (auto& [batch_size, known_runs] : runs) {
    const auto known_limits = limits.find(batch_size);
    if (known_limits != limits.end()) {
      sort_runs(known_runs);
      workload.arms.push_back({.batch_size = batch_size, .limits = known_limits->second, .runs = known_runs});
    }
  }
  if (workload.arms.empty()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} and {} have no batch size of {} in common", train.name, power.name, workload_name(job)),
                "use traces of the same workload"};
  }
  const std::size_t arm = workload.arm_of(job.default_batch_size);
  if (arm == workload.arms.size() || workload.arms[arm].batch_size != job.default_batch_size) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the default batch size {} of {} is not in both {} and {}", job.default_batch_size,
                            workload_name(job), train.name, power.name),
                fmt::format("they have {}", fmt::join(workload.batch_sizes(), ", "))};
  }
  if (workload.limit_of(arm, power.max_power) == workload.arms[arm].limits.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{}: the default batch size {} of {} was not measured at the maximum limit of {} W",
                            power.name, job.default_batch_size, workload_name(job), power.max_power.value()),
                "choose a batch size that was"};
  }
  return workload;
}

Workload on_gpus(Workload workload, int gpus) {
  if (gpus < 1 || gpus > most_gpus) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a job cannot have {} GPUs", gpus),
                fmt::format("give a number from 1 to {}", most_gpus)};
  }
  for (WorkloadArm& arm : workload.arms) {
    for (records::LimitProfile& profile : arm.limits) {
      profile.average_power *= gpus;
    }
  }
  workload.max_power *= gpus;
  return workload;
}

void keep_common(Workload& from, Workload& to) {
  const std::vector<int> sizes_of_from = from.batch_sizes();
  const std::vector<int> sizes_of_to = to.batch_sizes();
  const std::vector<Watts> limits_of_from = from.limits();
  const std::vector<Watts> limits_of_to = to.limits();
  const auto keep = [](Workload& workload, const std::vector<int>& sizes, const std::vector<Watts>& limits) {
    std::erase_if(workload.arms,
                  [&sizes](const WorkloadArm& arm) { return !std::ranges::binary_search(sizes, arm.batch_size); });
    for (WorkloadArm& arm : workload.arms) {
      std::erase_if(arm.limits, [&limits](const records::LimitProfile& profile) {
        return !std::ranges::binary_search(limits, profile.limit);
      });
    }
    const std::vector<Watts> left = workload.limits();
    if (!left.empty()) {
      workload.max_limit = left.back();
    }
  };
  keep(from, sizes_of_to, limits_of_to);
  keep(to, sizes_of_from, limits_of_from);
  const auto fits = [&from](const Workload& workload) {
    const std::size_t arm = workload.arm_of(from.default_batch_size);
    return arm < workload.arms.size() && workload.arms[arm].batch_size == from.default_batch_size &&
           !workload.limits().empty();
  };
  if (!fits(from) || !fits(to)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} cannot move: the other GPUs lack its default batch size {} or all of its power limits",
                            from.name, from.default_batch_size),
                "move to GPUs that share them"};
  }
  to.default_batch_size = from.default_batch_size;
}

Configuration mean_of(const Workload& workload, const optimize::EnergyTimeCost& cost, std::size_t arm,
                      std::size_t limit) {
  const records::LimitProfile& profile = workload.arms[arm].limits[limit];
  const Seconds time = profile.epoch_time * workload.arms[arm].mean_epochs(workload.max_epochs);
  const Joules energy = profile.average_power * time;
  return {.arm = arm, .limit = limit, .cost = cost.of(energy, time), .energy = energy, .time = time};
}

Configuration optimum(const Workload& workload, const optimize::EnergyTimeCost& cost) {
  std::optional<Configuration> best;
  for (std::size_t arm = 0; arm < workload.arms.size(); ++arm) {
    if (workload.arms[arm].always_reaches(workload.max_epochs)) {
      const Configuration found =
          mean_of(workload, cost, arm, optimize::cheapest_limit(cost, workload.arms[arm].limits));
      if (!best || found.cost < best->cost) {
        best = found;
      }
    }
  }
  if (!best) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("no batch size of {} always reaches the target within {} epochs", workload.name,
                            workload.max_epochs),
                "choose an easier target or allow more epochs"};
  }
  return *best;
}

Configuration default_configuration(const Workload& workload, const optimize::EnergyTimeCost& cost) {
  const std::size_t arm = workload.arm_of(workload.default_batch_size);
  const std::size_t limit = workload.limit_of(arm, workload.max_limit);
  if (limit == workload.arms[arm].limits.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the default batch size {} of {} was not measured at the maximum limit of {} W",
                            workload.default_batch_size, workload.name, workload.max_limit.value()),
                "choose a batch size that was"};
  }
  if (!workload.arms[arm].ever_reaches(workload.max_epochs)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the default batch size {} of {} never reaches the target within {} epochs",
                            workload.default_batch_size, workload.name, workload.max_epochs),
                "choose an easier target, another default batch size or more epochs"};
  }
  return mean_of(workload, cost, arm, limit);
}

}  // namespace zeus::simulate
