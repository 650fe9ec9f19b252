// One recurrence as a pure state machine: events in, actions out. It keeps track of the training under way and of
// whether that can continue as the next try, of how the try is judged and what its outcome is, of which limits are
// still to be measured, and of what to record and charge, and when. No clock, no device, no store. jobs::Driver carries
// out its actions. One thread.
//
// The machine asks for a decision (Ask, Claim) and receives it (ProfileWanted, TryWanted). Then it receives what the
// training does, until it asks again or is done. Carry out the actions in their order, before the next event.
#pragma once

#include "optimize/recurrence/judgement.hpp"
#include "records/job_definition.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace zeus::optimize {

class RecurrenceMachine {
 public:
  struct Terms {
    std::optional<records::JobTarget> target;
    int max_epochs = 0;          // the job's maximum
    int default_batch_size = 0;  // 0 if the job has none
  };

  // Decisions. `seed` is that of the next try, whether or not this decision starts it.
  struct ProfileWanted {
    records::ProfileAsked asked;
    std::uint64_t seed = 0;
  };
  struct TryWanted {
    records::TryPlan plan;            // without a limit: measure `not_measured`, then hold the best limit
    std::vector<Watts> not_measured;  // the job's limits that are not measured yet
    std::uint64_t seed = 0;
    Joules cost;                 // what the training took so far, if it has this batch size
    std::optional<Joules> next;  // the cost of its next epoch, if known
  };
  // What the training does.
  struct EpochOver {
    int epochs = 0;  // over so far
    Joules cost;     // so far
    std::optional<Joules> next;
  };
  struct MetricSeen {
    double value = 0.0;
  };
  struct CostSeen {
    Joules cost;
  };
  // Measuring is over: there are results, or the limits are left alone.
  struct LimitsMeasured {
    bool any = false;
    bool left_alone = false;
  };
  // The training was suspended for a while. What that took does not count against it and must not end it.
  struct StoodStill {};
  // The training has ended by itself, or another process has ended it.
  struct Ended {
    bool crashed = false;
    bool interrupted = false;
    bool has_worked = false;  // whether its batch size has worked before, for a crash
    bool others_have_worked = false;
  };
  // The training has ended because of a Stop.
  struct Stopped {
    bool interrupted = false;
  };
  using Event = std::variant<ProfileWanted, TryWanted, EpochOver, MetricSeen, CostSeen, LimitsMeasured, StoodStill,
                             Ended, Stopped>;

  struct Ask {};
  // The training reached the target while its limits were measured, so it is the recurrence's try. Record it as one,
  // and answer with a TryWanted for it.
  struct Claim {};
  struct Start {
    int batch_size = 0;
    std::uint64_t seed = 0;
  };
  // The training is of no use: end it, and charge the recurrence with what it took.
  struct Abandon {
    int batch_size = 0;
  };
  struct Measure {
    std::vector<Watts> limits;
  };
  // Without a limit, the best one measured.
  struct Hold {
    std::optional<Watts> limit;
  };
  // Record the limits measured by now, if any.
  struct RecordLimits {};
  // The try is over: what the training took up to now belongs to it.
  struct Conclude {
    records::TryOutcome outcome = records::TryOutcome::lost;
  };
  // End the training, and report that with Stopped.
  struct Stop {};
  // Let the training run to its own end; it may already have ended.
  struct SeeThrough {
    bool reached = false;
  };
  enum class Why { ended, interrupted };
  struct GiveUp {
    Why why = Why::ended;
  };
  struct Done {};
  using Action =
      std::variant<Ask, Claim, Start, Abandon, Measure, Hold, RecordLimits, Conclude, Stop, SeeThrough, GiveUp, Done>;
  using Actions = std::vector<Action>;

  explicit RecurrenceMachine(const Terms& terms) : terms_{terms} {}

  Actions on(const Event& event);

  // Whether to report measured limits, and the cost within an epoch.
  [[nodiscard]] bool wants_limits() const { return wants_limits_; }
  [[nodiscard]] bool watches_cost() const { return is_open() && judgement_.budget; }
  [[nodiscard]] bool is_trying() const { return phase_ == Phase::trying && is_open(); }
  [[nodiscard]] bool has_training() const { return training_.has_value(); }
  [[nodiscard]] int batch_size() const { return training_->batch_size; }

 private:
  enum class Phase { asking, measuring, trying };
  // A training, from its initial weights on.
  struct Training {
    int batch_size = 0;
    EpochCosts costs;
    std::optional<double> metric;
    bool stood_still = false;
    std::optional<records::TryOutcome> outcome;
  };

  // Whether the outcome of the training is still open.
  [[nodiscard]] bool is_open() const { return phase_ != Phase::asking && !training_->outcome; }
  // Makes sure that a training of that batch size is under way.
  void prepare(int batch_size, std::uint64_t seed, Actions& actions);
  void judge_by(std::optional<int> max_epochs, std::optional<Joules> budget, Joules cost, std::optional<Joules> next);
  void decide(std::optional<records::TryOutcome> outcome);
  // Adds the actions that follow once the training is decided.
  void settle(Actions& actions);

  void take(const ProfileWanted& wanted, Actions& actions);
  void take(const TryWanted& wanted, Actions& actions);
  void take(const EpochOver& over, Actions& actions);
  void take(const MetricSeen& seen, Actions& actions);
  void take(const CostSeen& seen, Actions& actions);
  void take(const LimitsMeasured& measured, Actions& actions);
  void take(const StoodStill& stood, Actions& actions);
  void take(const Ended& ended, Actions& actions);
  void take(const Stopped& stopped, Actions& actions);

  Terms terms_;
  Phase phase_ = Phase::asking;
  std::optional<Training> training_;
  Judgement judgement_;
  bool wants_limits_ = false;
};

}  // namespace zeus::optimize
