// When a try is over, and its outcome: its target, its maximum number of epochs and its budget. A try is judged step by
// step while it trains, or at once if all epochs cost the same (section 4.4 of the NSDI'23 paper). Everything that runs
// a try uses this: `zeus run`, the demo, the training session, the simulator. A pure value; copy it freely.
#pragma once

#include "base/state_text.hpp"
#include "records/job_definition.hpp"
#include "records/job_event.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::optimize {

// The cost of a training's epochs, reported at the end of each, or of several.
struct EpochCosts {
  int epochs = 0;  // over so far
  Joules cost;     // at the end of the last of them
  // The cost of the cheapest epoch after the first, which includes the start. Epochs in which limits are measured cost
  // more.
  std::optional<Joules> cheapest;

  void over(int epochs_over, Joules cost_so_far);

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.epochs, self.cost, self.cheapest);
  }
};

struct Judgement {
  std::optional<records::JobTarget> target;  // without one, the training's own end shows whether it succeeded
  std::optional<int> max_epochs;             // of this try; nothing if the training ends by itself
  int job_epochs = 0;                        // the most epochs that any try of the job may run, at least `max_epochs`
  std::optional<Joules> budget;              // of cost

  // NaN and infinity reach no target. A target that is reached counts at any cost.
  [[nodiscard]] bool reaches(double metric) const;

  // The outcome of a try that has not reached its target after `epochs` epochs; nothing while it may go on. `next` is
  // the cost of another epoch, if known. It may be called before the first epoch, with `epochs` 0.
  [[nodiscard]] std::optional<records::TryOutcome> after_epoch(int epochs, Joules cost,
                                                               std::optional<Joules> next) const;
  // The same for a training that reports its own progress. `metric` is the value reached with these epochs, if
  // reported. Another epoch is expected to cost as much as the cheapest so far, unless `next` is given.
  [[nodiscard]] std::optional<records::TryOutcome> after_report(EpochCosts& costs, int epochs, Joules cost,
                                                                std::optional<double> metric,
                                                                std::optional<Joules> next) const;
  // The same at any time within an epoch.
  [[nodiscard]] std::optional<records::TryOutcome> meanwhile(Joules cost) const;
  // The outcome of a try that ended by itself before it was decided.
  [[nodiscard]] records::TryOutcome at_end(bool failed, bool metric_seen) const;

  // The end of a try of at most `max_epochs` epochs that cost `epoch` each, if it reaches its target after `needed`
  // epochs, or never. `beside` is its cost besides those epochs, before them or in the first. Epochs whose cost is
  // unknown beforehand run anyway: the first `at_least` of them.
  struct Foreseen {
    records::TryOutcome outcome = records::TryOutcome::lost;
    int epochs = 0;
  };
  [[nodiscard]] Foreseen foresee(std::optional<int> needed, Joules epoch, Joules beside = {}, int at_least = 0) const;
};

// How many epochs of this cost fit into a budget, at most `max_epochs`; all of them without a budget.
int epochs_within(std::optional<Joules> budget, Joules epoch_cost, int max_epochs);

// The outcome of a crash. If a batch size has never worked and others have, it is most likely too large for the memory,
// and the crash is a miss. If it has worked before, or is the default, it failed for another reason, and the crash
// teaches nothing.
records::TryOutcome outcome_of_crash(bool is_default, bool has_worked, bool others_have_worked);

}  // namespace zeus::optimize
