#include "optimize/batch_size/profile_book.hpp"

#include <algorithm>

namespace zeus::optimize {

ProfileBook::ProfileBook(const JobSpec& spec)
    : cost_{spec.eta, spec.max_power}, max_slowdown_{spec.max_slowdown}, pages_(spec.arms()) {
}

// Among the limits that do not slow an epoch too much.
std::size_t ProfileBook::cheapest(const std::vector<records::LimitProfile>& limits) const {
  std::size_t chosen = cheapest_limit(cost_, limits);
  if (!max_slowdown_) {
    return chosen;
  }
  const Seconds fastest = std::ranges::min_element(limits, {}, &records::LimitProfile::epoch_time)->epoch_time;
  std::optional<Joules> least;
  for (std::size_t index = 0; index < limits.size(); ++index) {
    const Joules epoch_cost = cost_.of_epoch(limits[index]);
    if (limits[index].epoch_time <= *max_slowdown_ * fastest && (!least || epoch_cost < *least)) {
      least = epoch_cost;
      chosen = index;
    }
  }
  return chosen;
}

void ProfileBook::add(std::size_t arm, std::span<const records::LimitProfile> limits) {
  Page& page = pages_[arm];
  for (const records::LimitProfile& profile : limits) {
    const auto place = std::ranges::lower_bound(page.limits, profile.limit, {}, &records::LimitProfile::limit);
    if (place != page.limits.end() && place->limit == profile.limit) {
      *place = profile;
    } else {
      page.limits.insert(place, profile);
    }
  }
  if (!page.limits.empty()) {
    page.cheapest = cheapest(page.limits);
    page.epoch_cost = cost_.of_epoch(page.limits[page.cheapest]);
  }
}

void ProfileBook::save(StateWriter& writer) const {
  writer(cost_.max_power());
  for (const Page& page : pages_) {
    writer(page.limits);
  }
}

void ProfileBook::restore(StateReader& reader) {
  Watts max_power;
  reader(max_power);
  restart(max_power);
  for (std::size_t arm = 0; arm < pages_.size(); ++arm) {
    std::vector<records::LimitProfile> limits;
    reader(limits);
    add(arm, limits);
  }
}

void ProfileBook::restart(Watts max_power) {
  cost_ = EnergyTimeCost{cost_.eta(), max_power};
  for (Page& page : pages_) {
    page = Page{};
  }
}

const records::LimitProfile* ProfileBook::find(std::size_t arm, Watts limit) const {
  const std::vector<records::LimitProfile>& limits = pages_[arm].limits;
  const auto place = std::ranges::lower_bound(limits, limit, {}, &records::LimitProfile::limit);
  return place != limits.end() && place->limit == limit ? &*place : nullptr;
}

}  // namespace zeus::optimize
