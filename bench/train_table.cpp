// The savings of a training session on four virtual V100s in virtual time (docs/train.md): the limit that it applies,
// the cost of profiling, and the prediction from observing; with 2 % scatter of each step's time and energy, and 15 ms
// for each call to a setter.
//
//   train_table [RUNS [OBSERVED_RUNS [WORKLOAD]]]      of each workload, or of that one; by default 1000 and 100

#include "base/log.hpp"
#include "physics/workload.hpp"
#include "tests/support/training_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <ranges>
#include <string_view>
#include <vector>

namespace {

using namespace zeus;

struct Series {
  std::vector<double> values;

  [[nodiscard]] double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  [[nodiscard]] double quantile(double part) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  }
};

void print_choices(std::string_view workload, Seconds epoch, std::uint64_t runs) {
  Series cost;
  Series extra;
  Series steps;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const test::ChoiceOutcome outcome = test::choose_and_account(workload, epoch, seed);
    cost.values.push_back(outcome.cost);
    extra.values.push_back(100 * outcome.extra_time);
    steps.values.push_back(outcome.steps);
  }
  const auto within = std::ranges::count_if(cost.values, [](double ratio) { return ratio <= 1.01; });
  fmt::print("  {:<14}{:>7.0f} s{:>11.1f}%{:>9.2f}%{:>10.0f}{:>12.3f}%{:>10.3f}%{:>10.3f}%\n", workload, epoch.value(),
             100.0 * static_cast<double>(within) / static_cast<double>(runs), 100 * (cost.quantile(1) - 1),
             steps.mean(), extra.mean(), extra.quantile(0.95), extra.quantile(1));
}

void print_observation(std::string_view workload, Seconds epoch, std::uint64_t runs) {
  Series time;
  Series energy;
  Series cost;
  std::uint64_t within_interval = 0;
  std::uint64_t in_slices = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const test::ObserverOutcome outcome = test::observe(workload, epoch, seed);
    time.values.push_back(100 * outcome.time_error);
    energy.values.push_back(100 * outcome.energy_error);
    cost.values.push_back(100 * outcome.cost_error);
    within_interval += outcome.within_interval ? 1 : 0;
    in_slices += outcome.only_in_slices ? 1 : 0;
  }
  const auto all = static_cast<double>(runs);
  const auto good = std::ranges::count_if(cost.values, [](double error) { return error <= 2; });
  fmt::print("  {:<14}{:>7.0f} s{:>11.0f}%{:>10.2f}%{:>10.2f}%{:>10.2f}%{:>12.0f}%{:>14.1f}%\n", workload,
             epoch.value(), 100.0 * static_cast<double>(in_slices) / all, time.quantile(0.95), energy.quantile(0.95),
             cost.quantile(0.95), 100.0 * static_cast<double>(good) / all,
             100.0 * static_cast<double>(within_interval) / all);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, double otherwise) {
    return static_cast<std::uint64_t>(std::max(1.0, argc > index ? std::atof(argv[index]) : otherwise));
  };
  const std::uint64_t runs = number(1, 1000);
  const std::uint64_t observed = number(2, 100);
  const std::string_view only = argc > 3 ? argv[3] : "";
  const auto wanted = [&](const physics::Workload& workload) { return only.empty() || workload.name() == only; };
  log::set_level(log::Level::error);
  try {
    fmt::print("  {} runs; time beyond that of twenty epochs at the applied setting\n", runs);
    fmt::print("  {:<14}{:>9}{:>12}{:>10}{:>10}{:>13}{:>11}{:>11}\n", "workload", "epoch", "within 1%", "worst",
               "steps", "extra mean", "95th", "most");
    for (const Seconds epoch : {3600_s, 20_s}) {
      for (const physics::Workload& workload : physics::workloads() | std::views::filter(wanted)) {
        print_choices(workload.name(), epoch, runs);
        std::fflush(stdout);
      }
    }
    fmt::print("  {} runs observed, and {} that applied; errors of the prediction, 95th percentiles\n", observed,
               observed);
    fmt::print("  {:<14}{:>9}{:>12}{:>11}{:>11}{:>11}{:>13}{:>15}\n", "workload", "epoch", "in slices", "time",
               "energy", "cost", "within 2%", "in interval");
    for (const physics::Workload& workload : physics::workloads() | std::views::filter(wanted)) {
      print_observation(workload.name(), 20_s, observed);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_table: {}\n", error.what());
    return 1;
  }
  return 0;
}
