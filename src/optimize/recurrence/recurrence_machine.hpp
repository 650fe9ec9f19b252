// One recurrence as a pure state machine: events in, actions out. It knows which training is under way and whether it
// can go on as the next try, how that try is judged and what has become of it, which limits are still to be measured,
// and what is to be recorded and charged when. No clock, no device, no store. jobs::Driver carries its actions out.
// One thread.
//
// The machine asks (Ask, Claim), and is told of a decision (ProfileWanted, TryWanted); then of what the training does,
// until it asks again or is done. Actions are carried out in their order, before the next event.
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
    int max_epochs = 0;          // of the job
    int default_batch_size = 0;  // 0 for a job that has none
  };

  // Decisions. `seed` is that of the next try, whether this starts it or not.
  struct ProfileWanted {
    int batch_size = 0;
    std::vector<Watts> limits;
    std::uint64_t seed = 0;
  };
  struct TryWanted {
    int batch_size = 0;
    std::optional<Watts> limit;       // nothing: measure `not_measured`, then hold the best
    std::vector<Watts> not_measured;  // of the limits there are
    int max_epochs = 0;
    std::optional<Joules> budget;
    std::uint64_t seed = 0;
    Joules cost;                 // of the training so far, where it is one of this batch size
    std::optional<Joules> next;  // of its next epoch, where that is known
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
  // Measuring is over: with results, or because the limits are left alone.
  struct LimitsMeasured {
    bool any = false;
    bool left_alone = false;
  };
  // It was suspended for a while: what that took is not its own, and must not end it.
  struct StoodStill {};
  // It has ended by itself, or because somebody else wanted it to.
  struct Ended {
    bool crashed = false;
    bool interrupted = false;
    bool has_worked = false;  // its batch size, for a crash
    bool others_have_worked = false;
  };
  // It has ended because it was told to (Stop).
  struct Stopped {
    bool interrupted = false;
  };
  using Event = std::variant<ProfileWanted, TryWanted, EpochOver, MetricSeen, CostSeen, LimitsMeasured, StoodStill,
                             Ended, Stopped>;

  struct Ask {};
  // The training has reached the target while its limits were measured, and so it is the recurrence's try: to be put on
  // record as one, and wanted (TryWanted) as it is.
  struct Claim {};
  struct Start {
    int batch_size = 0;
    std::uint64_t seed = 0;
  };
  // The training is of no use: it ends, and the recurrence is charged with what it took.
  struct Abandon {
    int batch_size = 0;
  };
  struct Measure {
    std::vector<Watts> limits;
  };
  // Nothing: the best that is measured.
  struct Hold {
    std::optional<Watts> limit;
  };
  // Records what limits were measured by now, if any were.
  struct RecordLimits {};
  // The try is over: what it took up to now is its own.
  struct Conclude {
    records::TryOutcome outcome = records::TryOutcome::lost;
  };
  // Ends the training, and tells of it (Stopped).
  struct Stop {};
  // The training goes on to its own end, or has come to it.
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

  // Whether to tell of limits measured, and of the cost within an epoch.
  [[nodiscard]] bool wants_limits() const { return wants_limits_; }
  [[nodiscard]] bool watches_cost() const { return is_open() && judgement_.budget; }
  [[nodiscard]] bool is_trying() const { return phase_ == Phase::trying && is_open(); }
  [[nodiscard]] bool has_training() const { return training_.has_value(); }
  [[nodiscard]] int batch_size() const { return training_->batch_size; }

 private:
  enum class Phase { asking, measuring, trying };
  // From its first weights on.
  struct Training {
    int batch_size = 0;
    EpochCosts costs;
    std::optional<double> metric;
    bool stood_still = false;
    std::optional<records::TryOutcome> outcome;
  };

  // Whether something may still become of the training.
  [[nodiscard]] bool is_open() const { return phase_ != Phase::asking && !training_->outcome; }
  // Has a training of that batch size under way.
  void prepare(int batch_size, std::uint64_t seed, Actions& actions);
  void judge_by(std::optional<int> max_epochs, std::optional<Joules> budget, Joules cost, std::optional<Joules> next);
  void decide(std::optional<records::TryOutcome> outcome);
  // What follows once the training is decided.
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
