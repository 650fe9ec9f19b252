// Compares policies over many seeds of many jobs, on all processors that the process may use. Results do not depend on
// their number. Called from the main thread.
#pragma once

#include "bench/policy_jobs.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/job_summary.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::bench {

// A policy with its name in the tables and its window.
struct Contender {
  std::string name;
  simulate::PolicyFactory factory;
  std::size_t window = 0;
};
Contender contender(std::string_view policy, std::size_t window = 0);

// Calls `work` with 0 to count - 1, on several threads. `done`, if given, is called in ascending order, by one thread
// at a time, as results become complete. When all have ended, the first exception is rethrown.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t)>& done = {});

// The results of a contender over a job's seeds.
struct Outcome {
  double regret = 0.0;               // expected, at the end, in runs of the best configuration
  double regret_at_ten = 0.0;        // the same after ten recurrences
  double last_five = 0.0;            // their expected cost, relative to the best's
  std::vector<double> regrets = {};  // at the end, of each seed
  std::uint64_t recurrences = 0;
  bool gave_up = false;  // a recurrence of some seed failed as often as it may; the other figures are then meaningless
};
// The number of the artifact's recurrences of a job: two for each batch size and limit.
std::uint64_t automatic_recurrences(const simulate::Workload& workload);
Outcome outcome_of(const PolicyJob& job, const Contender& contender, std::uint64_t seeds, int in_flight = 1);

// One contender's regret over another's, for many jobs. A job that only we gave up on counts as `ratio_of_given_up`;
// one that they gave up on is left out. A ratio above 1 is a loss if the difference exceeds 1 % of the cost of all
// recurrences at the best configuration: with smaller differences, ratios are meaningless.
class Ratios {
 public:
  static constexpr double ratio_of_given_up = 2.0;
  static constexpr double negligible = 0.01;

  void add(const Outcome& ours, const Outcome& theirs);
  // One line.
  [[nodiscard]] std::string summary() const;

 private:
  std::vector<double> end_;
  double variance_ = 0.0;  // of the sum of `end_`, from the scatter of the seeds
  std::vector<double> losses_;
  simulate::Spread ten_;
  simulate::Spread last_;
  double worst_last_ = 0.0;
  double ours_ = 0.0;
  double theirs_ = 0.0;
  int we_gave_up_ = 0;
  int they_gave_up_ = 0;
};

// A job of the published traces that drifts once, so that its best batch size moves by two octaves or more and the old
// one becomes a fifth worse or more.
struct DriftingJob {
  std::string name;
  std::uint64_t seed = 0;
  simulate::Workload before;
  simulate::Workload after;
};
std::vector<DriftingJob> drifting_jobs(const PolicyTraces& traces, std::size_t count);

struct Recovery {
  // How many followed the drift until five in a row had an expected cost within 5 % of the best. Empty if 140 were not
  // enough, or if a recurrence ended without reaching the target.
  std::optional<std::uint64_t> recurrences;
  // The expected cost of the last twenty, relative to the best's; 0 if a recurrence ended without reaching the target.
  double settled = 0.0;
};
Recovery recovery_of(const DriftingJob& job, const Contender& contender);

}  // namespace zeus::bench
