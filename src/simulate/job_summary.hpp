// Summarizes many seeds of a simulated job. A value that one thread adds to; the order of adding only affects rounding.
#pragma once

#include "simulate/job_simulation.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace zeus::simulate {

// Mean and standard deviation of the added values, without storing them.
class Spread {
 public:
  void add(double value) {
    ++count_;
    const double step = value - mean_;
    mean_ += step / static_cast<double>(count_);
    squares_ += step * (value - mean_);
  }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double deviation() const {
    return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0.0;
  }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

// So many of the last tries that reached their target show where a policy has ended.
inline constexpr int last_tries = 5;

class JobSummary {
 public:
  // `stage` is the one in force at the end; it must outlive the summary.
  JobSummary(const Stage& stage, std::uint64_t recurrences) : stage_{&stage}, cumulative_(recurrences) {}

  void add(SimulatedJob job);

  [[nodiscard]] const Spread& regret() const { return regret_; }
  [[nodiscard]] const Spread& expected_regret() const { return expected_regret_; }
  [[nodiscard]] const Spread& last_energy_ratio() const { return last_energy_; }
  [[nodiscard]] const Spread& last_time_ratio() const { return last_time_; }
  [[nodiscard]] const Spread& last_expected_cost_ratio() const { return last_expected_cost_; }
  // Mean expected regret after this many recurrences (from 1).
  [[nodiscard]] double expected_regret_after(std::uint64_t recurrences) const {
    return cumulative_[recurrences - 1].expected.mean();
  }

  // The object of the contract in docs/cli.md for one policy.
  [[nodiscard]] std::string to_json(const std::string& policy, std::uint64_t seeds) const;

 private:
  struct Cumulative {
    Spread regret;
    Spread expected;
  };

  const Stage* stage_;
  Spread regret_;
  Spread expected_regret_;
  Spread last_energy_;
  Spread last_time_;
  Spread last_expected_cost_;
  std::vector<Cumulative> cumulative_;
  SimulatedJob first_;
  bool has_first_ = false;
};

}  // namespace zeus::simulate
