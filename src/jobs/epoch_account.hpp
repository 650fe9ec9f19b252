// What the epochs of a training take, from what it has taken at the end of each: those count that ran from their
// beginning to their end under one limit. Pure; one thread.
#pragma once

#include "jobs/scatter.hpp"
#include "jobs/try.hpp"
#include "records/job_entry.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::jobs {

class EpochAccount {
 public:
  // The epoch under way is not like others: limits are changed or measured in it, or it stood still.
  void disturb() { undisturbed_ = false; }
  // A word of the first steps came when so much was taken. The start is as long before the first word as the second is
  // after it.
  void steps_seen(const Try::Taken& taken);
  // So many epochs are over, and this is what was taken so far, under the limit that is in force.
  void epochs_over(int epochs, const Try::Taken& taken, std::optional<Watts> limit);
  // The training is over. Where no epoch was told of, all of it was one.
  void training_over(const Try::Taken& taken, std::optional<Watts> limit);
  // It came to its own end after so many epochs: what the end took is no epoch either.
  void ended(int epochs, const Try::Taken& taken);
  // Nothing while no whole epoch is over, or their energy is not known. Those of the limit that was in force last. The
  // first epoch counts where it is the only one and its steps told where it began.
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
  Point first_;  // when the first epoch was over
  bool undisturbed_ = true;
  bool known_ = true;
  std::optional<Watts> limit_;  // of what follows
  int count_ = 0;
  Seconds time_;
  Joules energy_;
  Scatter times_;
  Scatter energies_;
  bool first_is_whole_ = false;
  std::optional<Point> end_;
};

}  // namespace zeus::jobs
