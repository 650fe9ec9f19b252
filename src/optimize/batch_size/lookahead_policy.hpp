// Policy `lookahead`, the default: learns the epochs that each batch size needs (EpochBelief), has what an epoch costs
// measured in seconds, and runs whatever is worth most: the best known batch size, or another whose run is expected to
// teach more than it costs, over a horizon that grows with the job's age; and, rarely, one that was not seen for long.
// docs/policies.md explains and measures it.
// One thread at a time.
#pragma once

#include "optimize/batch_size/change_detector.hpp"
#include "optimize/batch_size/epoch_belief.hpp"
#include "optimize/batch_size/exploratory_run.hpp"
#include "optimize/batch_size/lookahead_tuning.hpp"
#include "optimize/batch_size/policy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::optimize {

class LookaheadPolicy final : public Policy {
 public:
  explicit LookaheadPolicy(const JobSpec& spec, const LookaheadTuning& tuning = {});

  [[nodiscard]] std::string_view name() const override { return "lookahead"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<LookaheadPolicy>(*this); }
  void apply(const records::JobEvent& event, const ProfileBook& profiles) override;
  [[nodiscard]] Decision decide(const Question& question, const ProfileBook& profiles) const override;
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook& profiles) const override;

  [[nodiscard]] int version() const override { return 6; }
  void save(StateWriter& writer) const override { state(writer, *this); }
  void restore(StateReader& reader) override;

 private:
  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.spec_.max_power, self.spec_.power_limits, self.evidence_, self.recent_, self.expected_, self.fitted_,
            self.change_, self.unread_, self.seen_, self.running_, self.recurrences_);
  }

  // What an epoch of an arm costs under its best limit: measured, or inferred from its neighbours.
  struct EpochCost {
    double log_cost = 0.0;
    double deviation = 0.0;  // how much less it may be; 0 when the best limit is measured
    bool measured = false;   // under some limit
  };
  struct Incumbent {
    std::size_t arm = 0;
    double cost = 0.0;   // expected, of the epochs until one run reaches the target
    double usual = 0.0;  // what those of five of six runs stay below: a standard deviation above the middle
    double start = 0.0;  // what runs take beside their epochs, at any batch size
  };

  struct Gamble {
    std::size_t arm = 0;
    int max_epochs = 0;
  };

  // What a run of an arm is expected to take while the job is as it was; without variance where no run says.
  struct Expectation {
    double log_epochs = 0.0;
    double variance = 0.0;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.log_epochs, self.variance);
    }
  };

  void end_try(const records::TryEnded& ended);
  void learn(EpochEvidence& known, records::TryOutcome outcome, double log_epochs) const;
  void age();
  [[nodiscard]] Expectation expectation(std::size_t arm) const;
  // The limit that may be better than the cheapest one measured: next to it, below before above; none when both are
  // measured.
  [[nodiscard]] std::optional<Watts> limit_to_measure(const ProfileBook& profiles, std::size_t arm) const;
  // Of every arm; nothing before an epoch of any was measured.
  [[nodiscard]] std::optional<std::vector<EpochCost>> epoch_costs(const ProfileBook& profiles) const;
  [[nodiscard]] std::optional<Incumbent> incumbent(const ProfileBook& profiles,
                                                   const std::vector<EpochCost>& costs) const;
  [[nodiscard]] Gamble best_gamble(const Incumbent& incumbent, const std::vector<EpochCost>& costs,
                                   const Question& question, double horizon) const;
  [[nodiscard]] ExploratoryValue trial_of(std::size_t arm, double epoch_cost, const Incumbent& incumbent,
                                          const Question& question, double horizon) const;
  [[nodiscard]] bool worth_a_thought(std::size_t arm, double log_cost, const Incumbent& incumbent,
                                     double horizon) const;
  [[nodiscard]] std::optional<std::size_t> worth_measuring(const Incumbent& incumbent,
                                                           const std::vector<EpochCost>& costs,
                                                           const Question& question, double horizon,
                                                           Seconds epoch_time) const;
  [[nodiscard]] std::optional<std::size_t> look_due(const Incumbent& best, const std::vector<EpochCost>& costs) const;
  [[nodiscard]] std::size_t least_missed() const;
  [[nodiscard]] Decision run(RunTry attempt, double horizon, const ProfileBook& profiles) const;

  LookaheadTuning tuning_;
  JobSpec spec_;
  std::vector<double> octaves_;
  std::vector<EpochEvidence> evidence_;
  std::vector<EpochEvidence> recent_;  // the part of it since runs began to speak for a change
  std::vector<Expectation> expected_;  // as it was then
  std::vector<EpochEvidence> fitted_;  // what belief_ was worked out from; empty before the first time
  EpochBelief belief_;
  ChangeDetector change_;
  std::vector<double> unread_;       // runs of each arm that belief_ does not know yet
  std::vector<std::uint64_t> seen_;  // how many recurrences were done when a run of an arm last ended
  std::vector<int> running_;         // tries of each arm in flight
  std::uint64_t recurrences_ = 0;    // that are done
};

}  // namespace zeus::optimize
