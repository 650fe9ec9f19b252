// The sweep over all iteration times, from the slowest to the fastest: Fulkerson's and Kelley's primal-dual method,
// which keeps its flow, its potentials and its tree of labels from one breakpoint to the next (docs/pipeline.md has the
// proof). An object belongs to one thread and is run once.
//
// Labelled nodes are those that a tight path with room reaches from the source; they stay where they are in time while
// all others move earlier. A node becomes labelled at the number of ticks at which a way to it becomes tight; when the
// sink does, the flow along its path rises, which makes the price of time jump and uproots some branches of the tree.
#pragma once

#include "optimize/pipeline/flow_network.hpp"
#include "optimize/pipeline/label_queue.hpp"

#include <cstdint>
#include <vector>

namespace zeus::optimize::pipeline {

// From `at` ticks below the slowest iteration time on, each tick saved makes the computation longer by `change` ticks
// more than before.
struct RateChange {
  Ticks at = 0;
  std::int32_t computation = 0;
  std::int32_t change = 0;
};

// From `at` ticks below the slowest iteration time on, each tick saved costs `price`.
struct PriceChange {
  Ticks at = 0;
  Price price = 0;
};

struct Sweep {
  Ticks slowest = 0;                // the iteration time of the cheapest plan
  Ticks saved = 0;                  // how much less the fastest one takes
  std::vector<Ticks> durations;     // of the cheapest plan
  std::vector<RateChange> rates;    // in the order of `at`
  std::vector<PriceChange> prices;  // in the order of `at`, rising
  std::int64_t augmentations = 0;   // how often the flow rose
  std::int64_t labellings = 0;      // how often a node was labelled
};

class FrontierSearch {
 public:
  // The network is changed: its flow is that of the fastest plan afterwards. It outlives the search.
  explicit FrontierSearch(FlowNetwork& network);

  Sweep run();

 private:
  [[nodiscard]] static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] std::int32_t origin(Way way) const;
  [[nodiscard]] std::int32_t target(Way way) const;
  [[nodiscard]] Ticks time_of(std::int32_t node) const;
  [[nodiscard]] Price room(Way way) const;
  [[nodiscard]] Ticks slack(Way way) const;

  void label(std::int32_t node, Way parent);
  void unlabel(std::int32_t node);
  // Labels a node that is due, or puts off one that was entered for a way that is gone.
  void reconsider(std::int32_t node);
  // Sends what the sink's path has room for; false when it has no bound: no iteration is faster.
  bool augment();
  void uproot();
  bool replant(std::int32_t node);
  bool reaches_source(std::int32_t node);
  void note_rates();

  FlowNetwork& network_;
  Sweep sweep_;
  Ticks saved_ = 0;
  Price price_ = 0;
  std::vector<Ticks> potential_;  // the node's time; plus `saved_` while it is not labelled
  std::vector<char> labelled_;
  std::vector<Way> parent_;  // the way that reached a labelled node
  LabelQueue queue_;
  std::vector<std::int32_t> stale_;  // computations whose rate may have changed
  std::vector<char> is_stale_;
  std::vector<std::int32_t> rate_;
  std::vector<std::int32_t> orphans_;
  std::vector<std::int32_t> dropped_;
  std::vector<std::int64_t> rooted_;  // the last uprooting in which the node was seen to reach the source
  std::int64_t uprooting_ = 0;
};

}  // namespace zeus::optimize::pipeline
