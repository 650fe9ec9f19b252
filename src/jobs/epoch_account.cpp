#include "jobs/epoch_account.hpp"

#include <algorithm>
#include <utility>

namespace zeus::jobs {

void EpochAccount::steps_seen(const Try::Taken& taken) {
  const Point now{.epochs = 0, .time = taken.time, .energy = taken.energy()};
  if (!first_steps_) {
    first_steps_ = now;
  } else if (!next_steps_) {
    next_steps_ = now;
  }
}

std::optional<EpochAccount::Point> EpochAccount::start() const {
  if (!first_steps_) {
    return std::nullopt;
  }
  const Point& next = next_steps_ ? *next_steps_ : *first_steps_;
  return Point{.epochs = 0,
               .time = std::max(first_steps_->time * 2.0 - next.time, Seconds{}),
               .energy = std::max(first_steps_->energy * 2.0 - next.energy, Joules{})};
}

void EpochAccount::epochs_over(int epochs, const Try::Taken& taken, std::optional<Watts> limit) {
  known_ = known_ && taken.unknown.empty();
  const Point now{.epochs = epochs, .time = taken.time, .energy = taken.energy()};
  const Point before = std::exchange(last_, now);
  const bool whole = std::exchange(undisturbed_, true) && limit;
  if (limit != limit_) {
    limit_ = limit;
    count_ = 0;
    time_ = {};
    energy_ = {};
    times_ = {};
    energies_ = {};
    first_is_whole_ = false;
  }
  const int over = now.epochs - before.epochs;
  if (!whole || over <= 0) {
    return;
  }
  if (before.epochs == 0) {
    // It includes the start. If several epochs are reported at once, the first cannot be told from the others.
    first_is_whole_ = over == 1;
    first_ = now;
    return;
  }
  count_ += over;
  time_ += now.time - before.time;
  energy_ += now.energy - before.energy;
  if (over == 1) {
    times_.add((now.time - before.time).value());
    energies_.add((now.energy - before.energy).value());
  }
}

void EpochAccount::training_over(const Try::Taken& taken, std::optional<Watts> limit) {
  if (last_.epochs == 0) {
    epochs_over(1, taken, limit);
  }
}

void EpochAccount::ended(int epochs, const Try::Taken& taken) {
  if (undisturbed_) {
    end_ = Point{.epochs = epochs, .time = taken.time, .energy = taken.energy()};
  }
}

std::optional<records::WholeEpochs> EpochAccount::whole() const {
  const std::optional<Point> start = this->start();
  records::WholeEpochs whole{.limit = limit_.value_or(Watts{}),
                             .count = count_,
                             .time = time_,
                             .energy = energy_,
                             .time_deviation = {},
                             .energy_deviation = {},
                             .start_time = {},
                             .start_energy = {}};
  if (count_ == 0 && first_is_whole_ && start) {
    whole.count = 1;
    whole.time = first_.time - start->time;
    whole.energy = first_.energy - start->energy;
  }
  if (!known_ || whole.count == 0 || whole.time <= Seconds{} || whole.energy <= Joules{}) {
    return std::nullopt;
  }
  if (const std::optional<double> deviation = times_.deviation()) {
    whole.time_deviation = Seconds{*deviation};
    whole.energy_deviation = Joules{*energies_.deviation()};
  }
  if (first_is_whole_ && count_ > 0) {
    whole.start_time = std::max(first_.time - whole.mean_time(), Seconds{});
    whole.start_energy = std::max(first_.energy - whole.mean_energy(), Joules{});
  } else if (start) {
    whole.start_time = start->time;
    whole.start_energy = start->energy;
  }
  if (end_ && whole.start_time && whole.start_energy) {
    // Epochs reported together with the end are like the others.
    const int epochs = end_->epochs - last_.epochs;
    *whole.start_time += std::max(end_->time - last_.time - whole.mean_time() * epochs, Seconds{});
    *whole.start_energy += std::max(end_->energy - last_.energy - whole.mean_energy() * epochs, Joules{});
  }
  return whole;
}

}  // namespace zeus::jobs
