#include "train/account.hpp"

#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::train {

namespace {

// Each window begins before the previous one ends, so that nothing between them is lost.
constexpr const char* even_window = "zeus.training.even";
constexpr const char* odd_window = "zeus.training.odd";
// Two ticks of the slowest counter (docs/measurement.md), and the longest delay of a sampler on a busy machine.
constexpr Seconds two_ticks{0.2};
constexpr Seconds settling{1.0};

}  // namespace

Amount& Amount::operator+=(const Amount& other) {
  // Adding exactly nothing neither adds uncertainty nor removes a calibration bound.
  if (energy.value == Joules{0} && energy.uncertainty == Joules{0}) {
    energy = other.energy;
  } else if (!(other.energy.value == Joules{0} && other.energy.uncertainty == Joules{0})) {
    energy = in_turn(energy, other.energy);
  }
  time += other.time;
  known = known && other.known;
  steps += other.steps;
  return *this;
}

Parts operator+(const Parts& a, const Parts& b) {
  Parts both = a;
  for (std::size_t i = 0; i < part_count; ++i) {
    both[i] += b[i];
  }
  return both;
}

Amount total(const Parts& parts) {
  Amount all;
  for (const Amount& amount : parts) {
    all += amount;
  }
  return all;
}

Account::Account(Meter* meter, std::vector<SessionGpu> gpus, Clock& clock, EventReporter& reporter)
    : meter_{meter}, gpus_{std::move(gpus)}, clock_{clock}, reporter_{reporter} {
}

void Account::enter(Part part) {
  if (open_ != part) {
    cut(part);
  }
}

void Account::cut(Part part) {
  if (!open_) {
    open(part);
    began_ = clock_.now();
    return;
  }
  Booked booked{.part = *open_, .time = {}, .steps = std::exchange(steps_, 0), .measurement = {}};
  const std::optional<std::string> former = std::exchange(window_, std::nullopt);
  open(part);
  const Instant now = clock_.now();
  booked.time = now - began_;
  began_ = now;
  end(former, booked);
}

void Account::close() {
  if (!open_) {
    return;
  }
  Booked booked{.part = *open_, .time = {}, .steps = std::exchange(steps_, 0), .measurement = {}};
  open_.reset();
  end(std::exchange(window_, std::nullopt), booked);
  booked_.back().time = clock_.now() - began_;
}

void Account::open(Part part) {
  open_ = part;
  if (meter_ == nullptr) {
    return;
  }
  odd_ = !odd_;
  const char* const name = odd_ ? odd_window : even_window;
  try {
    meter_->begin(name);
    window_ = name;
  } catch (const std::exception& error) {
    reporter_.warn(fmt::format("the energy of the training is not measured: {}", error.what()));
  }
}

void Account::end(const std::optional<std::string>& name, Booked& booked) {
  if (name) {
    try {
      booked.measurement = meter_->end(*name);
    } catch (const std::exception& error) {
      reporter_.warn(fmt::format("the energy of the training is unknown: {}", error.what()));
    }
  }
  booked_.push_back(booked);
}

void Account::count_steps(std::uint64_t steps) {
  steps_ += steps;
}

Parts Account::take(Seconds patience) {
  Parts parts;
  for (Booked& booked : booked_) {
    if (booked.measurement && !booked.measurement->settled) {
      try {
        const Seconds wait = ended_unforeseen(booked) ? std::max(patience, settling) : patience;
        booked.measurement = meter_->settle(*booked.measurement, wait);
      } catch (const std::exception& error) {
        reporter_.warn(fmt::format("the energy of the training is less certain than it could be: {}", error.what()));
      }
    }
    parts[static_cast<std::size_t>(booked.part)] += amount_of(booked);
  }
  booked_.clear();
  return parts;
}

bool Account::ended_unforeseen(const Booked& booked) const {
  return power_set_at_ && Instant{} + booked.measurement->end - *power_set_at_ < two_ticks;
}

// A window begins a little before its part and ends a little after it, while other devices are read. The energy outside
// of the part belongs to its neighbours; how it is distributed there is unknown.
Energy Account::share_of(const Booked& booked, const Energy& energy) {
  const Seconds measured = booked.measurement->time();
  if (!(measured > booked.time)) {
    return energy;
  }
  const Joules outside = energy.value * ((measured - booked.time) / measured);
  Energy share = energy;
  share.value -= outside;
  share.uncertainty = Joules{std::hypot(energy.uncertainty.value(), 0.5 * outside.value())};
  return share;
}

Amount Account::amount_of(const Booked& booked) const {
  Amount amount{.time = booked.time, .energy = {}, .known = true, .steps = booked.steps};
  if (meter_ == nullptr) {
    return amount;
  }
  if (!booked.measurement) {
    amount.known = false;
    return amount;
  }
  std::optional<Energy> all;
  for (const SessionGpu& gpu : gpus_) {
    const auto found = booked.measurement->gpu_energy.find(gpu.index);
    if (found == booked.measurement->gpu_energy.end() || !found->second.energy) {
      reporter_.warn(
          fmt::format("the energy of {} is unknown: {}", to_text(gpu.gpu->identity(), gpu.index),
                      found == booked.measurement->gpu_energy.end() ? "it is not measured" : found->second.reason));
      amount.known = false;
      return amount;
    }
    const Energy share = share_of(booked, *found->second.energy);
    all = all ? *all + share : share;
  }
  amount.energy = all.value_or(Energy{});
  return amount;
}

Seconds Account::time_so_far() const {
  Seconds time;
  for (const Booked& booked : booked_) {
    time += booked.time;
  }
  return open_ ? time + (clock_.now() - began_) : time;
}

}  // namespace zeus::train
