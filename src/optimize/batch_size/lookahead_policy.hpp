// Policy `lookahead`, the default. It learns the epochs that each batch size needs (EpochBelief) and asks for
// measurements of what an epoch costs, which take seconds. Then it runs whichever is worth most: the best known batch
// size, or another whose run is expected to teach more than it costs over the job's horizon, which grows with its age.
// Rarely it also runs one that has not run for a long time. docs/policies.md explains and measures it. One thread at a
// time.
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

  [[nodiscard]] int version() const override { return 7; }
  void save(StateWriter& writer) const override { state(writer, *this); }
  void restore(StateReader& reader) override;

 private:
  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.spec_.max_power, self.spec_.power_limits, self.evidence_, self.recent_, self.expected_, self.fitted_,
            self.change_, self.former_, self.former_expected_, self.odds_, self.unread_, self.seen_, self.running_,
            self.recurrences_);
  }

  // The cost of an epoch of an arm under its best limit, measured or inferred from its neighbours.
  struct EpochCost {
    double log_cost = 0.0;
    double deviation = 0.0;  // how much less it may be; 0 if the best limit is measured
    bool measured = false;   // whether it was measured under some limit
  };
  struct Incumbent {
    std::size_t arm = 0;
    double cost = 0.0;   // expected cost of the epochs until one run reaches the target
    double usual = 0.0;  // the cost that five of six runs stay below: one standard deviation above the median
    double start = 0.0;  // what runs cost besides their epochs, at any batch size
  };

  struct Gamble {
    std::size_t arm = 0;
    int max_epochs = 0;
  };

  // What a run of an arm is expected to take while the job has not changed. The variance is 0 if no run shows it.
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
  // Changes the odds of the latest change by a run: it is more or less likely by the belief since the change than by
  // the expectations before it. Returns true once the odds are below even.
  bool takes_back(std::size_t arm, double log_epochs, double scatter);
  [[nodiscard]] Expectation believed(std::size_t arm, double noise) const;
  [[nodiscard]] Expectation expectation(std::size_t arm) const;
  // The limit that may be cheaper than the cheapest one measured: its unmeasured neighbour, the lower one first.
  // Nothing if both neighbours are measured.
  [[nodiscard]] std::optional<Watts> limit_to_measure(const ProfileBook& profiles, std::size_t arm) const;
  // The costs of all arms. Nothing until an epoch of some arm is measured.
  [[nodiscard]] std::optional<std::vector<EpochCost>> epoch_costs(const ProfileBook& profiles) const;
  // Of the epochs until one run reaches the target, those of runs that miss it included.
  [[nodiscard]] double expected_cost(std::size_t arm, const EpochCost& epoch) const;
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
  std::vector<EpochEvidence> recent_;  // the part of it that came after runs began to suggest a change
  std::vector<Expectation> expected_;  // the expectations at that time
  std::vector<EpochEvidence> fitted_;  // the evidence that belief_ was computed from; empty before the first time
  EpochBelief belief_;
  ChangeDetector change_;
  std::vector<EpochEvidence> former_;         // the evidence without the latest change; empty if there was none
  std::vector<Expectation> former_expected_;  // the expectations before that change
  double odds_ = 0.0;                         // logarithm of the odds that it was a change
  std::vector<double> unread_;                // runs of each arm that belief_ does not include yet
  std::vector<std::uint64_t> seen_;           // how many recurrences had ended when a run of the arm last ended
  std::vector<int> running_;                  // tries of each arm in flight
  std::uint64_t recurrences_ = 0;             // recurrences that have ended
};

}  // namespace zeus::optimize
