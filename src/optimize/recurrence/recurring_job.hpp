// One recurring job as a pure state machine: it folds the events of the job and answers what to do next for one of its
// recurrences. The simulator, the server and the live loop all use this class. It holds no clock, no device and no
// file. One thread at a time; a clone is independent.
//
// The driver calls next(), carries out the action, and then calls apply() for each event in order. For a TryPlan
// these are TrySubmitted, then LimitsProfiled if the try profiled limits while it ran, then TryEnded. For a
// ProfileAsked it is LimitsProfiled. Events of several recurrences may interleave. A recurrence ends with the first
// try that reaches the target, or with RecurrenceAbandoned.
#pragma once

#include "base/state_text.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "optimize/batch_size/policy.hpp"
#include "optimize/batch_size/profile_book.hpp"
#include "records/job_event.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace zeus::optimize {

// Run one try, which is judged by the plan (judgement.hpp); measure limits first; or give up.
using Action = std::variant<records::TryPlan, records::ProfileAsked, records::FailedTries>;

// The try that runs if the requested limits could not be measured: the recurrence needs a model anyway.
records::TryPlan unmeasured(const records::ProfileAsked& asked, const JobSpec& spec);

// For trainings that cost real energy: replaces `action` by giving up, if nothing of the job has ever reached its
// target and the action would repeat a batch size that this recurrence has `missed` with. A replay of published results
// repeats them, because the published policies did.
Action unless_in_vain(Action action, std::span<const int> missed, bool ever_reached);

class RecurringJob {
 public:
  // `policy` must be new and made for the same spec, which must be `checked`.
  RecurringJob(JobSpec spec, std::unique_ptr<Policy> policy);
  RecurringJob(const RecurringJob& other);
  RecurringJob& operator=(const RecurringJob&) = delete;
  RecurringJob(RecurringJob&&) = default;
  RecurringJob& operator=(RecurringJob&&) = default;
  ~RecurringJob() = default;

  [[nodiscard]] const JobSpec& spec() const { return spec_; }
  [[nodiscard]] const Policy& policy() const { return *policy_; }
  [[nodiscard]] const ProfileBook& profiles() const { return profiles_; }
  // The least cost of a recurrence so far, including its failed tries; nothing before the first success.
  [[nodiscard]] std::optional<Joules> best_cost() const;

  // An event about a batch size outside the set is an invalid_argument Error.
  void apply(const records::JobEvent& event);
  // What to do now for `recurrence`. `number` is the number of this submission among all of the job's.
  [[nodiscard]] Action next(std::uint64_t recurrence, std::uint64_t number) const;

  // The exact state that apply() has built. A job made with the same spec and a new policy that restores it continues
  // as this one would.
  void save(StateWriter& writer) const;
  void restore(StateReader& reader);

 private:
  struct Open {
    std::uint64_t recurrence = 0;
    Joules spent;
    int failures = 0;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.recurrence, self.spent, self.failures);
    }
  };
  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.spec_.max_power, self.spec_.power_limits, self.open_, self.least_cost_, self.recent_costs_,
            self.oldest_);
  }

  [[nodiscard]] const Open* find(std::uint64_t recurrence) const;
  Open& open(std::uint64_t recurrence);
  void close(std::uint64_t recurrence);
  void end_try(const records::TryEnded& ended);
  void remember(Joules cost);

  JobSpec spec_;
  ProfileBook profiles_;
  std::unique_ptr<Policy> policy_;
  std::vector<Open> open_;
  std::optional<Joules> least_cost_;  // used without a window
  std::vector<Joules> recent_costs_;  // used with a window: a ring of the costs of the last recurrences
  std::size_t oldest_ = 0;
};

}  // namespace zeus::optimize
