// One recurring job as a pure state machine: it folds the events of the job and answers what to do next for one of its
// recurrences. The simulator, the server and the live loop drive this same object; it holds no clock, no device and no
// file. One thread at a time; a clone is independent.
//
// The driver's part: ask next(); carry the action out; apply() what happened, in order: for a RunAction first
// TrySubmitted, then (when the try profiled limits while running) LimitsProfiled, then TryEnded; for a ProfileAction
// LimitsProfiled. Events of several recurrences may interleave. A recurrence is over with the first try that reached,
// or with RecurrenceAbandoned.
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

// Run one try, judged by `max_epochs` and `budget` (judgement.hpp).
struct RunAction {
  int batch_size = 0;
  std::optional<Watts> limit;  // under which to run; profile all limits during the first epoch when not given
  int max_epochs = 0;
  std::optional<Joules> budget;
  records::TryPurpose purpose = records::TryPurpose::exploit;
};

// Measure these limits of this batch size, then ask again.
struct ProfileAction {
  int batch_size = 0;
  std::vector<Watts> limits;
};

// What is run where the limits that were asked for could not be measured: a model is needed all the same.
RunAction unmeasured(const ProfileAction& asked, const JobSpec& spec);

// The recurrence has failed as often as one may; somebody has to look at the job.
struct GiveUpAction {
  int tries = 0;
  bool never_reached = false;  // nor has any other of the job
};

using Action = std::variant<RunAction, ProfileAction, GiveUpAction>;

// What trainings that cost real energy do instead of `action`: as long as nothing of the job has ever reached its
// target, a recurrence gives up rather than repeat one of the batch sizes that it has `missed` with. A replay of
// published results repeats them, as the policies were published to.
Action unless_in_vain(Action action, std::span<const int> missed, bool ever_reached);

class RecurringJob {
 public:
  // `policy` must be fresh and made for the same spec, which must be `checked`.
  RecurringJob(JobSpec spec, std::unique_ptr<Policy> policy);
  RecurringJob(const RecurringJob& other);
  RecurringJob& operator=(const RecurringJob&) = delete;
  RecurringJob(RecurringJob&&) = default;
  RecurringJob& operator=(RecurringJob&&) = default;
  ~RecurringJob() = default;

  [[nodiscard]] const JobSpec& spec() const { return spec_; }
  [[nodiscard]] const Policy& policy() const { return *policy_; }
  [[nodiscard]] const ProfileBook& profiles() const { return profiles_; }
  // The least cost of a recurrence so far, its failed tries included; nothing before the first success.
  [[nodiscard]] std::optional<Joules> best_cost() const;

  // An event about a batch size outside the set is an invalid_argument Error.
  void apply(const records::JobEvent& event);
  // What to do for `recurrence` now; the answer would be the number `number` of all submissions.
  [[nodiscard]] Action next(std::uint64_t recurrence, std::uint64_t number) const;

  // What apply() has made, exactly: a job made with the same spec and a fresh policy that has restored it goes on as
  // this one would.
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
  std::optional<Joules> least_cost_;  // without a window
  std::vector<Joules> recent_costs_;  // with one: a ring of the last recurrences' costs
  std::size_t oldest_ = 0;
};

}  // namespace zeus::optimize
