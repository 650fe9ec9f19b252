// How batch sizes are chosen: a policy is a fold over the events of its job (apply) and an answer to "what next?"
// (decide). An answer is a function of the events applied, in their order, and of the question's number and seed alone;
// a policy object can therefore be dropped at any time and folded again from the history. One thread at a time.
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
  std::optional<Watts> limit;     // the cheapest measured when not given
  bool profile = false;           // measure all limits during the first epoch; done anyway where none is measured
  std::optional<int> max_epochs;  // the policy's own early stop, where that is sooner than the job's
  records::TryPurpose purpose = records::TryPurpose::exploit;
  // What is usual by the policy's belief: the job stops this run at beta times that where it is more than the least
  // cost of a recurrence so far, which may have been luck, or of a time when the job was cheaper.
  std::optional<Joules> usual_cost = {};
};

// Measure these limits of this batch size first, for a few seconds each, then ask again.
struct ProfileLimits {
  std::size_t arm = 0;
  std::vector<Watts> limits;
};

using Decision = std::variant<RunTry, ProfileLimits>;

struct Question {
  std::uint64_t number = 0;      // of the submission to be decided: draws are keyed by it
  std::uint64_t recurrence = 0;  // that the submission belongs to
  Joules spent;                  // by this recurrence so far
  int tries = 0;                 // that this recurrence has lost so far
  std::optional<Joules> best;    // the least cost of a recurrence so far, when there is one
};

// What a policy believes that one run of an arm costs under its cheapest limit, failures left out.
struct CostBelief {
  Joules expected;
  Joules low;  // the 95 % interval of the mean
  Joules high;
  std::optional<double> epochs = {};  // expected, where the policy has an opinion about them
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = default;
  Policy& operator=(const Policy&) = default;
  virtual ~Policy() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Policy> clone() const = 0;

  // The next event of the job. `profiles` already knows it.
  virtual void apply(const records::JobEvent& event, const ProfileBook& profiles) = 0;
  [[nodiscard]] virtual Decision decide(const Question& question, const ProfileBook& profiles) const = 0;

  // One entry for each arm; nothing where nothing is believed. For people: decisions do not come from here.
  [[nodiscard]] virtual std::vector<std::optional<CostBelief>> beliefs(const ProfileBook& profiles) const = 0;

  // The state that apply() has made, exactly: a fresh policy for the same spec that has restored it goes on as this one
  // would. `version` changes whenever the same events would lead to another state, since stores keep such states: it is
  // to be raised with every change of tests/golden/simulate/decisions.txt.
  [[nodiscard]] virtual int version() const = 0;
  virtual void save(StateWriter& writer) const = 0;
  virtual void restore(StateReader& reader) = 0;
};

}  // namespace zeus::optimize
