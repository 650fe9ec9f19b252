#include "optimize/batch_size/profile_book.hpp"

#include "optimize/cost/limit_order.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

constexpr double same = 1e-9;
// The job has changed if whole epochs differ from run to run by more than this. A machine that is busy at times causes
// less.
constexpr double change_of_job = 0.25;

bool have_uncertainties(std::span<const records::LimitProfile> limits) {
  return std::ranges::all_of(limits, [](const auto& one) { return records::uncertainty(one).has_value(); });
}

}  // namespace

ProfileBook::ProfileBook(const JobSpec& spec)
    : cost_{spec.eta, spec.max_power}, max_slowdown_{spec.max_slowdown}, pages_(spec.arms()) {
}

// Only limits that do not slow an epoch too much are considered. Slices that contradict physics are corrected first.
std::size_t ProfileBook::cheapest(std::span<const records::LimitProfile> limits) const {
  std::vector<records::LimitProfile> allowed{limits.begin(), limits.end()};
  if (have_uncertainties(limits)) {
    drop_contradictions(allowed);
    allowed = in_order(allowed);
  }
  if (max_slowdown_) {
    const Seconds fastest = std::ranges::min(allowed, {}, &records::LimitProfile::epoch_time).epoch_time;
    std::erase_if(allowed,
                  [&](const records::LimitProfile& one) { return !(one.epoch_time <= *max_slowdown_ * fastest); });
  }
  const Watts chosen = allowed[cheapest_limit(cost_, allowed)].limit;
  return static_cast<std::size_t>(std::ranges::find(limits, chosen, &records::LimitProfile::limit) - limits.begin());
}

void ProfileBook::add(std::size_t arm, std::span<const records::LimitProfile> limits) {
  Page& page = pages_[arm];
  page.by_epochs = false;
  records::merge(page.limits, limits);
  if (!page.limits.empty()) {
    page.cheapest = cheapest(page.limits);
    page.epoch_cost = cost_.of_epoch(page.limits[page.cheapest]);
  }
}

void ProfileBook::follow(std::size_t arm, const records::LimitProfile& seen) {
  Page& page = pages_[arm];
  const records::LimitProfile* const known = find(arm, seen.limit);
  const double time = known == nullptr ? 1.0 : seen.epoch_time / known->epoch_time;
  const double power = known == nullptr ? 1.0 : seen.average_power / known->average_power;
  if (page.by_epochs && (std::abs(time - 1.0) > change_of_job || std::abs(power - 1.0) > change_of_job)) {
    page = Page{};
    return;
  }
  std::vector<records::LimitProfile> limits = page.limits;
  for (records::LimitProfile& one : limits) {
    one = records::scaled(one, time, power);
  }
  if (known == nullptr) {
    limits = {seen};
  }
  // A difference within rounding is no difference.
  if (known == nullptr || std::abs(time - 1.0) > same || std::abs(power - 1.0) > same) {
    add(arm, limits);
  }
  page.by_epochs = true;
  if (contradicts_itself(page.limits)) {
    page = Page{};
  }
}

void ProfileBook::save(StateWriter& writer) const {
  writer(cost_.max_power(), start_cost_);
  for (const Page& page : pages_) {
    writer(page.limits, page.by_epochs);
  }
}

void ProfileBook::restore(StateReader& reader) {
  Watts max_power;
  std::optional<Joules> start_cost;
  reader(max_power, start_cost);
  restart(max_power);
  start_cost_ = start_cost;
  for (std::size_t arm = 0; arm < pages_.size(); ++arm) {
    std::vector<records::LimitProfile> limits;
    bool by_epochs = false;
    reader(limits, by_epochs);
    add(arm, limits);
    pages_[arm].by_epochs = by_epochs;
  }
}

void ProfileBook::restart(Watts max_power) {
  cost_ = EnergyTimeCost{cost_.eta(), max_power};
  start_cost_.reset();
  for (Page& page : pages_) {
    page = Page{};
  }
}

const records::LimitProfile* ProfileBook::find(std::size_t arm, Watts limit) const {
  const std::vector<records::LimitProfile>& limits = pages_[arm].limits;
  const auto place = std::ranges::lower_bound(limits, limit, {}, &records::LimitProfile::limit);
  return place != limits.end() && place->limit == limit ? &*place : nullptr;
}

Watts best_limit(const JobSpec& spec, std::span<const records::LimitProfile> measured) {
  ProfileBook book{spec};
  book.add(0, measured);
  return book.best(0).limit;
}

}  // namespace zeus::optimize
