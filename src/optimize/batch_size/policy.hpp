// The interface of policies, which choose batch sizes. A policy folds the events of its job (apply) and answers what to
// do next (decide). An answer depends only on the events applied, their order, and the question's number and seed. A
// policy object can therefore be dropped at any time and rebuilt from the history. One thread at a time.
#pragma once

#include "base/state_text.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "optimize/batch_size/profile_book.hpp"
#include "records/job_event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::optimize {

// Run the job at this batch size.
struct RunTry {
  std::size_t arm = 0;
  std::optional<Watts> limit;     // the cheapest measured one if none is given
  bool profile = false;           // measure all limits during the first epoch; always done if none is measured
  std::optional<int> max_epochs;  // the policy's own early stop, if it comes before the job's
  records::TryPurpose purpose = records::TryPurpose::exploit;
  // The usual cost of a run, as the policy believes. The job stops this run at beta times the least cost of a
  // recurrence so far, or at beta times `usual_cost` if that is more: the least cost may have been luck, or date from a
  // time when the job was cheaper.
  std::optional<Joules> usual_cost = {};
};

// Measure these limits of this batch size first, for a few seconds each, then ask again.
struct ProfileLimits {
  std::size_t arm = 0;
  std::vector<Watts> limits;
};

using Decision = std::variant<RunTry, ProfileLimits>;

struct Question {
  std::uint64_t number = 0;      // the number of the submission to decide; it keys the random draws
  std::uint64_t recurrence = 0;  // the recurrence of that submission
  Joules spent;                  // spent by this recurrence so far
  int tries = 0;                 // tries that this recurrence has lost so far
  std::optional<Joules> best;    // the least cost of a recurrence so far; nothing before the first
};

// What a policy believes one run of an arm costs under its cheapest limit, not counting failures.
struct CostBelief {
  Joules expected;
  Joules low;  // the 95 % interval of the mean
  Joules high;
  std::optional<double> epochs = {};  // expected number, if the policy estimates it
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = default;
  Policy& operator=(const Policy&) = default;
  virtual ~Policy() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Policy> clone() const = 0;

  // Applies the next event of the job. `profiles` already includes it.
  virtual void apply(const records::JobEvent& event, const ProfileBook& profiles) = 0;
  [[nodiscard]] virtual Decision decide(const Question& question, const ProfileBook& profiles) const = 0;

  // One entry for each arm, empty if the policy has no belief about it. For display only: decisions do not use it.
  [[nodiscard]] virtual std::vector<std::optional<CostBelief>> beliefs(const ProfileBook& profiles) const = 0;

  // The exact state that apply() has built: a fresh policy for the same spec that has restored it continues as this one
  // would. Stores keep such states, so `version` must be raised if the same events lead to another state, which is with
  // every change of tests/golden/simulate/decisions.txt.
  [[nodiscard]] virtual int version() const = 0;
  virtual void save(StateWriter& writer) const = 0;
  virtual void restore(StateReader& reader) = 0;
};

}  // namespace zeus::optimize
