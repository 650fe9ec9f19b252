#include "research/unprofiled_policy.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace zeus::research {

UnprofiledPolicy::UnprofiledPolicy(const optimize::JobSpec& spec, std::unique_ptr<optimize::Policy> inner)
    : spec_{spec}, cost_{spec.eta, spec.max_power}, inner_{std::move(inner)}, known_(spec.arms()) {
}

UnprofiledPolicy::UnprofiledPolicy(const UnprofiledPolicy& other)
    : Policy{other},
      spec_{other.spec_},
      cost_{other.cost_},
      inner_{other.inner_->clone()},
      known_{other.known_},
      running_{other.running_} {
}

void UnprofiledPolicy::apply(const records::JobEvent& event, const optimize::ProfileBook& profiles) {
  if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
    running_[submitted->try_number] = limit_of(spec_.arm_of(submitted->plan.batch_size));
  } else if (const auto* ended = std::get_if<records::TryEnded>(&event)) {
    const auto running = running_.find(ended->try_number);
    if (running != running_.end() && ended->epochs > 0) {
      const records::LimitProfile seen{.limit = running->second,
                                       .epoch_time = ended->time / ended->epochs,
                                       .average_power = ended->energy / ended->time};
      auto& known = known_[spec_.arm_of(ended->batch_size)];
      if (std::ranges::find(known, seen.limit, &records::LimitProfile::limit) == known.end()) {
        known.push_back(seen);
      }
    }
    running_.erase(ended->try_number);
  }
  inner_->apply(event, profiles);
}

optimize::Decision UnprofiledPolicy::decide(const optimize::Question& question,
                                            const optimize::ProfileBook& profiles) const {
  optimize::Decision decision = inner_->decide(question, profiles);
  if (auto* run = std::get_if<optimize::RunTry>(&decision)) {
    run->limit = limit_of(run->arm);
  }
  return decision;
}

void UnprofiledPolicy::save(StateWriter& writer) const {
  writer(known_, std::vector<std::pair<std::uint64_t, Watts>>{running_.begin(), running_.end()});
  inner_->save(writer);
}

void UnprofiledPolicy::restore(StateReader& reader) {
  std::vector<std::pair<std::uint64_t, Watts>> running;
  reader(known_, running);
  running_ = {running.begin(), running.end()};
  inner_->restore(reader);
}

// The highest limit not seen at this batch size yet, or the cheapest if all were.
Watts UnprofiledPolicy::limit_of(std::size_t arm) const {
  const std::vector<records::LimitProfile>& known = known_[arm];
  for (const Watts limit : spec_.power_limits | std::views::reverse) {
    if (std::ranges::find(known, limit, &records::LimitProfile::limit) == known.end()) {
      return limit;
    }
  }
  return known[optimize::cheapest_limit(cost_, known)].limit;
}

}  // namespace zeus::research
