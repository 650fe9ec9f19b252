// What an epoch of a training takes, computed from the totals at the end of each. Only epochs that ran under one limit
// from beginning to end count. Pure; one thread.
#pragma once

#include "jobs/scatter.hpp"
#include "jobs/try.hpp"
#include "records/job_entry.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::jobs {

class EpochAccount {
 public:
  // The epoch under way is not typical: limits were changed or measured in it, or the training was suspended.
  void disturb() { undisturbed_ = false; }
  // Steps were reported for the first or second time when this much had been taken. The start ended as long before the
  // first report as the second came after it.
  void steps_seen(const Try::Taken& taken);
  // This many epochs are over, this much was taken so far, and `limit` is in force.
  void epochs_over(int epochs, const Try::Taken& taken, std::optional<Watts> limit);
  // The training is over. If no epoch was reported, all of it counts as one.
  void training_over(const Try::Taken& taken, std::optional<Watts> limit);
  // It ended by itself after this many epochs; what its end took belongs to no epoch.
  void ended(int epochs, const Try::Taken& taken);
  // Nothing until a whole epoch is over, or if their energy is unknown. Covers the epochs under the last limit in
  // force. The first epoch counts if it is the only one and its steps show where it began.
  [[nodiscard]] std::optional<records::WholeEpochs> whole() const;

 private:
  struct Point {
    int epochs = 0;
    Seconds time;
    Joules energy;
  };

  [[nodiscard]] std::optional<Point> start() const;

  Point last_;
  std::optional<Point> first_steps_;
  std::optional<Point> next_steps_;
  Point first_;  // when the first epoch ended
  bool undisturbed_ = true;
  bool known_ = true;
  std::optional<Watts> limit_;  // of the epochs that follow
  int count_ = 0;
  Seconds time_;
  Joules energy_;
  Scatter times_;
  Scatter energies_;
  bool first_is_whole_ = false;
  std::optional<Point> end_;
};

}  // namespace zeus::jobs
