// Drives one recurrence of a job: asks the job, makes a Try carry out the actions of optimize::RecurrenceMachine, and
// records the result. `zeus run`, the demo and zeus::Job share this loop. If Zeus starts and ends the training, run()
// does everything. If the training is a user's own loop, Try::go_on() returns its events without waiting, and the loop
// calls advance() whenever there is one. One thread; the caller keeps the arguments alive.
#pragma once

#include "base/clock.hpp"
#include "jobs/epoch_account.hpp"
#include "jobs/job.hpp"
#include "jobs/recurrence_link.hpp"
#include "jobs/try.hpp"
#include "optimize/recurrence/recurrence_machine.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::jobs {

struct DriverOptions {
  bool sets_limits = true;       // if false, the limit in force is the only one
  bool stops_at_target = false;  // if false, a training that has reached its target runs to its own end
  // Whether to assume that an epoch costs what was measured under its limit. A try that cannot afford another epoch is
  // then stopped before that epoch ends.
  bool foresees_epochs = false;
  // Whether each try, and the end of the recurrence, waits for a call of start_next().
  bool starts_when_told = false;
};

// Events to display, as they happen. TryStarted, ProfileAsked and FailedTries are the job's next step; LimitsMeasured
// is what was recorded.
struct EpochTrained {
  int batch_size = 0;
  int epoch = 0;
  std::optional<int> most;  // the most that a try may run
  std::optional<double> metric;
};
struct TryJudged {
  records::TryStarted step;
  records::TryResult result;
  std::optional<Joules> energy;  // empty if that of a GPU is unknown
};
// The training of a try has ended.
struct TrainingOver {
  bool seen_through = false;  // it ran to its own end, or to its target if it stops there
};
using DriverEvent = std::variant<records::ProfileAsked, records::TryStarted, records::FailedTries,
                                 records::LimitsMeasured, EpochTrained, TryJudged, TrainingOver>;

enum class DriverEnd {
  reached,
  missed,      // the recurrence missed the target as often as allowed
  given_up,    // interrupted or lost: nothing is left to do
  unrecorded,  // the store has failed and no training runs: the caller may run one unrecorded
};

class Driver {
 public:
  using Tell = std::function<void(const DriverEvent&)>;
  // Called with an error of the store, or with the conflict if another process gave up the recurrence. If it throws,
  // the exception passes through. If it returns, the training continues and nothing more is recorded.
  using StoreFailed = std::function<void(const Error&)>;

  // `recurrence` must have begun on `device`.
  Driver(std::unique_ptr<RecurrenceLink> recurrence, const records::JobDevice& device, Try& training,
         const DriverOptions& options, Clock& clock, Tell tell, StoreFailed store_failed);

  DriverEnd run();
  // One step of the loop: does what is due and lets the training continue. Returns the end once there is one.
  std::optional<DriverEnd> advance();
  // Whether another step has work to do before a new event.
  [[nodiscard]] bool has_more_to_do() const {
    return !end_ && !then_ && !to_do_.empty() && !waits_to_start() && !unanswered_;
  }
  void start_next() { may_start_ = true; }
  // Whether everything has been recorded.
  [[nodiscard]] bool recorded() const { return recorded_; }

 private:
  using Machine = optimize::RecurrenceMachine;

  void keep(const std::function<void(RecurrenceLink&)>& body);
  void feed(const Machine::Event& event);
  [[nodiscard]] bool waits_to_start() const;
  void carry_out_all();
  void go_on();
  void note_epoch(int epochs, const Try::State& state);
  void note_limits(const Try::State& state);
  [[nodiscard]] Joules cost_so_far();
  [[nodiscard]] Joules cost_of(const Try::Taken& taken) const { return cost_of(taken.energy(), taken.time); }
  [[nodiscard]] Joules cost_of(Joules energy, Seconds time) const;
  [[nodiscard]] std::optional<Joules> next_epoch(int batch_size, std::optional<Watts> limit) const;
  [[nodiscard]] std::optional<Watts> in_force(const Try::State& state) const;
  [[nodiscard]] std::vector<Watts> not_measured(int batch_size) const;
  [[nodiscard]] std::optional<Watts> best_limit(int batch_size) const;
  [[nodiscard]] Machine::Ended ended(const Try::State& state);
  void note_progress();
  [[nodiscard]] records::TryResult finished(records::TryOutcome outcome, const Try::Taken& taken);

  template <typename Question, typename Ask>
  void ask(const Question& question, const Ask& ask);
  void answered(const std::optional<Step>& step);
  void decided(const records::ProfileAsked& asked);
  void decided(const records::TryStarted& step);
  void decided(const records::FailedTries& failed);

  void carry_out(const Machine::Ask& ask);
  void carry_out(const Machine::Claim& claim);
  void carry_out(const Machine::Start& start);
  void carry_out(const Machine::Abandon& abandon);
  void carry_out(const Machine::Measure& measure);
  void carry_out(const Machine::Hold& hold);
  void carry_out(const Machine::RecordLimits& record);
  void carry_out(const Machine::Conclude& conclude);
  void carry_out(const Machine::Stop& stop);
  void carry_out(const Machine::SeeThrough& see_through);
  void carry_out(const Machine::GiveUp& give_up);
  void carry_out(const Machine::Done& done);
  void wait_for_end(std::function<void()> then);
  void go_on_to_the_end();
  void end_of_wait();
  void beat();
  [[nodiscard]] std::string reason(Machine::Why why);

  std::unique_ptr<RecurrenceLink> recurrence_;
  records::JobDevice device_;
  Try& training_;
  DriverOptions options_;
  Clock& clock_;
  Tell tell_;
  StoreFailed store_failed_;
  Machine machine_;
  std::deque<Machine::Action> to_do_;
  std::vector<Try::Event> unheard_;          // by the machine, while a question is unanswered
  std::function<void()> then_;               // called once the awaited end of the training has come
  std::optional<records::TryStarted> step_;  // the step of the running try
  EpochAccount epochs_;                      // those of the training
  Instant looked_;                           // when the cost was last checked
  Instant progress_recorded_;                // when progress was last recorded
  int epochs_recorded_ = 0;                  // of the try
  std::optional<DriverEnd> end_;
  bool recorded_ = true;     // until recording fails
  bool unanswered_ = false;  // the first thing to do is a question whose answer is not there yet
  bool may_start_ = false;
  bool reached_ = false;
  bool just_started_ = false;
  bool told_of_standstill_ = false;
};

}  // namespace zeus::jobs
