// When a try is over and what has become of it: its target, its most epochs and its budget, judged step by step while
// it trains or in one go where all epochs cost the same (section 4.4 of the NSDI'23 paper). Everything that runs a try
// judges it by this: `zeus run`, the demo, the training session, the simulator. A pure value; copy it freely.
#pragma once

#include "base/state_text.hpp"
#include "records/job_definition.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::optimize {

// What the epochs of a training have cost, told at the end of each, or of several.
struct EpochCosts {
  int epochs = 0;  // over so far
  Joules cost;     // when the last of them was over
  // Of one, after the first, which has the start in it; all those in which limits are measured cost more.
  std::optional<Joules> cheapest;

  void over(int epochs_over, Joules cost_so_far);

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.epochs, self.cost, self.cheapest);
  }
};

struct Judgement {
  std::optional<records::JobTarget> target;  // without one, the training's own end tells whether it was reached
  std::optional<int> max_epochs;             // of this try; nothing where the training ends by itself
  int job_epochs = 0;                        // the most that any try of the job may run, at least `max_epochs`
  std::optional<Joules> budget;              // of cost

  // NaN and infinity reach no target. A target that is reached counts, whatever it has cost.
  [[nodiscard]] bool reaches(double metric) const;

  // What has become of a try that is short of its target after `epochs` epochs; nothing while it may go on. `next` is
  // what another epoch costs, where that is known. Before the first epoch as well: then `epochs` is 0.
  [[nodiscard]] std::optional<records::TryOutcome> after_epoch(int epochs, Joules cost,
                                                               std::optional<Joules> next) const;
  // The same where the training tells of itself: `metric` is what it has reached with these epochs, where it says so,
  // and another epoch costs as much as the cheapest so far, unless it is known better.
  [[nodiscard]] std::optional<records::TryOutcome> after_report(EpochCosts& costs, int epochs, Joules cost,
                                                                std::optional<double> metric,
                                                                std::optional<Joules> next) const;
  // The same at any time within an epoch.
  [[nodiscard]] std::optional<records::TryOutcome> meanwhile(Joules cost) const;
  // What has become of a try that ended by itself before it was decided.
  [[nodiscard]] records::TryOutcome at_end(bool failed, bool metric_seen) const;

  // The end of a try that has `max_epochs`, every epoch of which costs `epoch`, and that reaches its target after
  // `needed` epochs, or never. What it has cost beside those epochs, before them or in the first, is `beside`. An epoch
  // whose cost is not known beforehand is run: `at_least` of them.
  struct Foreseen {
    records::TryOutcome outcome = records::TryOutcome::lost;
    int epochs = 0;
  };
  [[nodiscard]] Foreseen foresee(std::optional<int> needed, Joules epoch, Joules beside = {}, int at_least = 0) const;
};

// How many epochs of this cost fit into a budget, up to `max_epochs`; all of them where there is no budget.
int epochs_within(std::optional<Joules> budget, Joules epoch_cost, int max_epochs);

// What a crash is. A batch size that fails where others have worked is too large for the memory, most likely, and has
// missed the target; one that works, or the default, fails for some other reason, from which nothing is learned.
records::TryOutcome outcome_of_crash(bool is_default, bool has_worked, bool others_have_worked);

}  // namespace zeus::optimize
