#include "research/cluster_generator.hpp"

#include "base/portable_math.hpp"
#include "base/random.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <tuple>
#include <utility>

namespace zeus::research {

namespace {

constexpr double seconds_per_day = 86400.0;
constexpr double spread_of_jobs = 0.25;   // of the logarithm of a run time about its group's mean
constexpr double spread_of_groups = 0.5;  // of a group's mean about its workload's
constexpr double most_jobs = 1e9;

[[noreturn]] void refuse_plan(std::string_view part) {
  throw Error{
      ErrorKind::invalid_argument, fmt::format("'{}' is not a setting of a generated cluster", part.substr(0, 60)),
      "write jobs=N,days=D,min=N,max=N,power=P,seed=S; jobs to 1e9, days to 1e5, 1 <= min <= max, power above 1"};
}

double number_of(std::string_view part, std::string_view text) {
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !(value > 0.0 && value <= most_jobs)) {
    refuse_plan(part);
  }
  return value;
}

}  // namespace

ClusterPlan parse_cluster_plan(std::string_view text) {
  ClusterPlan plan;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      refuse_plan(part);
    }
    const std::string_view key = part.substr(0, equals);
    const double value = number_of(part, part.substr(equals + 1));
    if (key == "jobs") {
      plan.jobs = static_cast<std::uint64_t>(value);
    } else if (key == "days" && value <= 1e5) {
      plan.days = value;
    } else if (key == "min") {
      plan.smallest_group = static_cast<std::uint64_t>(value);
    } else if (key == "max") {
      plan.largest_group = static_cast<std::uint64_t>(value);
    } else if (key == "power" && value > 1.0) {
      plan.power = value;
    } else if (key == "seed") {
      plan.seed = static_cast<std::uint64_t>(value);
    } else {
      refuse_plan(part);
    }
  }
  if (plan.jobs < 1 || plan.smallest_group < 1 || plan.smallest_group > plan.largest_group) {
    refuse_plan(whole);
  }
  return plan;
}

ClusterGenerator::ClusterGenerator(const ClusterPlan& plan, std::vector<Seconds> typical_times)
    : plan_{plan}, typical_times_{std::move(typical_times)} {
}

std::optional<GeneratedGroup> ClusterGenerator::next() {
  if (made_ == plan_.jobs) {
    return std::nullopt;
  }
  Random draw{plan_.seed, groups_++, 0};
  GeneratedGroup group{.workload = draw.below(typical_times_.size()), .jobs = {}};
  // A Pareto tail by inversion, limited by the largest group and by the jobs that are left.
  const double size =
      static_cast<double>(plan_.smallest_group) * portable::pow(draw.uniform(), -1.0 / (plan_.power - 1.0));
  const auto wanted = static_cast<std::uint64_t>(std::min(size, static_cast<double>(plan_.largest_group)));
  const std::uint64_t count = std::min(std::max<std::uint64_t>(wanted, 1), plan_.jobs - made_);
  made_ += count;
  const double whole = plan_.days * seconds_per_day;
  const double begin = draw.uniform(0.0, 0.5 * whole);
  const double period = draw.uniform(0.1, 1.0) * (whole - begin) / static_cast<double>(count);
  const double mean = typical_times_[group.workload].value() * portable::exp(spread_of_groups * draw.normal());
  for (std::uint64_t job = 0; job < count; ++job) {
    const double start = begin + (static_cast<double>(job) + draw.uniform()) * period;
    const double ratio = portable::exp(spread_of_jobs * draw.normal() - 0.5 * spread_of_jobs * spread_of_jobs);
    group.jobs.push_back({.start = Seconds{start}, .end = Seconds{start + mean * ratio}, .runtime_ratio = ratio});
  }
  std::ranges::sort(group.jobs, {}, [](const ClusterJob& job) { return std::tuple{job.start, job.end}; });
  return group;
}

}  // namespace zeus::research
