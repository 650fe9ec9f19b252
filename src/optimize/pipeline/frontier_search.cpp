#include "optimize/pipeline/frontier_search.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::optimize::pipeline {

namespace {

constexpr Way no_way = -1;

}  // namespace

FrontierSearch::FrontierSearch(FlowNetwork& network)
    : network_{network},
      potential_{network.earliest_when_slowest()},
      labelled_(potential_.size(), 0),
      parent_(potential_.size(), no_way),
      queue_{potential_.size()},
      is_stale_(at(network.computations()), 0),
      rate_(at(network.computations()), 0),
      rooted_(potential_.size(), 0) {
  stale_.reserve(at(network.computations()));
  orphans_.reserve(potential_.size());
  dropped_.reserve(potential_.size());
}

std::int32_t FrontierSearch::origin(Way way) const {
  const Arc& arc = network_.arc(way / 2);
  return way % 2 == 0 ? arc.tail : arc.head;
}

std::int32_t FrontierSearch::target(Way way) const {
  const Arc& arc = network_.arc(way / 2);
  return way % 2 == 0 ? arc.head : arc.tail;
}

Ticks FrontierSearch::time_of(std::int32_t node) const {
  return labelled_[at(node)] != 0 ? potential_[at(node)] : potential_[at(node)] - saved_;
}

Price FrontierSearch::room(Way way) const {
  const Arc& arc = network_.arc(way / 2);
  return way % 2 == 0 ? arc.room_along : arc.room_against;
}

// How far the way is from being tight. It is never negative on a way with room: that keeps the plan the cheapest.
Ticks FrontierSearch::slack(Way way) const {
  const Arc& arc = network_.arc(way / 2);
  const Ticks apart = time_of(arc.head) - time_of(arc.tail);
  return way % 2 == 0 ? apart - arc.length_along : arc.length_against - apart;
}

Sweep FrontierSearch::run() {
  sweep_.slowest = potential_[at(network_.sink())];
  for (std::int32_t i = 0; i < network_.computations(); ++i) {
    sweep_.durations.push_back(network_.slowest(i));
  }
  label(network_.source(), no_way);
  while (true) {
    if (labelled_[at(network_.sink())] != 0) {
      if (!augment()) {
        break;
      }
      continue;
    }
    if (queue_.empty()) {
      throw Error{ErrorKind::internal, "the frontier's search has no way to the end of the graph",
                  "please report it with the graph"};
    }
    if (queue_.first_due() > saved_) {
      note_rates();
      saved_ = queue_.first_due();
    }
    reconsider(queue_.first());
  }
  sweep_.saved = saved_;
  return std::move(sweep_);
}

void FrontierSearch::label(std::int32_t node, Way parent) {
  potential_[at(node)] = time_of(node);
  labelled_[at(node)] = 1;
  parent_[at(node)] = parent;
  ++sweep_.labellings;
  queue_.remove(node);
  const std::int32_t computation = node / 2;
  if (computation < network_.computations() && is_stale_[at(computation)] == 0) {
    is_stale_[at(computation)] = 1;
    stale_.push_back(computation);
  }
  for (const Way way : network_.ways_from(node)) {
    const std::int32_t next = target(way);
    if (labelled_[at(next)] == 0 && room(way) > 0) {
      queue_.advance(next, saved_ + slack(way));
    }
  }
}

void FrontierSearch::unlabel(std::int32_t node) {
  potential_[at(node)] += saved_;
  labelled_[at(node)] = 0;
  const std::int32_t computation = node / 2;
  if (computation < network_.computations() && is_stale_[at(computation)] == 0) {
    is_stale_[at(computation)] = 1;
    stale_.push_back(computation);
  }
}

void FrontierSearch::reconsider(std::int32_t node) {
  Ticks least = std::numeric_limits<Ticks>::max();
  for (const Way out : network_.ways_from(node)) {
    const Way way = out ^ 1;
    if (labelled_[at(origin(way))] != 0 && room(way) > 0) {
      const Ticks lack = slack(way);
      if (lack == 0) {
        label(node, way);
        return;
      }
      least = std::min(least, lack);
    }
  }
  if (least == std::numeric_limits<Ticks>::max()) {
    queue_.remove(node);
  } else {
    queue_.set(node, saved_ + least);
  }
}

bool FrontierSearch::augment() {
  Price amount = unbounded;
  for (std::int32_t node = network_.sink(); node != network_.source(); node = origin(parent_[at(node)])) {
    amount = std::min(amount, room(parent_[at(node)]));
  }
  if (amount >= unbounded) {
    return false;
  }
  price_ += amount;
  ++sweep_.augmentations;
  if (!sweep_.prices.empty() && sweep_.prices.back().at == saved_) {
    sweep_.prices.back().price = price_;
  } else {
    sweep_.prices.push_back({.at = saved_, .price = price_});
  }
  for (std::int32_t node = network_.sink(); node != network_.source();) {
    const Way way = parent_[at(node)];
    network_.push(way, amount);
    const std::int32_t before = origin(way);
    if (room(way) == 0 || slack(way) != 0) {
      parent_[at(node)] = no_way;
      orphans_.push_back(node);
    }
    node = before;
  }
  std::ranges::reverse(orphans_);  // those near the source first, since the others may depend on them
  uproot();
  return true;
}

// Gives each orphan a new parent if there is one. Otherwise drops it, which makes its children orphans in turn.
void FrontierSearch::uproot() {
  ++uprooting_;
  for (std::size_t i = 0; i < orphans_.size(); ++i) {
    const std::int32_t node = orphans_[i];
    if (replant(node)) {
      continue;
    }
    for (const Way way : network_.ways_from(node)) {
      const std::int32_t next = target(way);
      if (labelled_[at(next)] != 0 && parent_[at(next)] == way) {
        parent_[at(next)] = no_way;
        orphans_.push_back(next);
      }
    }
    unlabel(node);
    dropped_.push_back(node);
  }
  orphans_.clear();
  for (const std::int32_t node : dropped_) {
    for (const Way out : network_.ways_from(node)) {
      const Way way = out ^ 1;
      if (labelled_[at(origin(way))] != 0 && room(way) > 0) {
        queue_.advance(node, saved_ + slack(way));
      }
    }
  }
  dropped_.clear();
}

bool FrontierSearch::replant(std::int32_t node) {
  for (const Way out : network_.ways_from(node)) {
    const Way way = out ^ 1;
    if (labelled_[at(origin(way))] != 0 && room(way) > 0 && slack(way) == 0 && reaches_source(origin(way))) {
      parent_[at(node)] = way;
      return true;
    }
  }
  return false;
}

bool FrontierSearch::reaches_source(std::int32_t node) {
  std::int32_t root = node;
  while (root != network_.source() && rooted_[at(root)] != uprooting_ && parent_[at(root)] != no_way) {
    root = origin(parent_[at(root)]);
  }
  if (root != network_.source() && rooted_[at(root)] != uprooting_) {
    return false;
  }
  for (std::int32_t seen = node; seen != root; seen = origin(parent_[at(seen)])) {
    rooted_[at(seen)] = uprooting_;
  }
  return true;
}

void FrontierSearch::note_rates() {
  for (const std::int32_t computation : stale_) {
    is_stale_[at(computation)] = 0;
    std::int32_t rate = 0;
    if (network_.arc(computation).flow > 0) {
      rate = labelled_[at(2 * computation + 1)] - labelled_[at(2 * computation)];
    }
    if (rate != rate_[at(computation)]) {
      sweep_.rates.push_back({.at = saved_, .computation = computation, .change = rate - rate_[at(computation)]});
      rate_[at(computation)] = rate;
    }
  }
  stale_.clear();
}

}  // namespace zeus::optimize::pipeline
