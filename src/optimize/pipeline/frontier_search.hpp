// The sweep over all iteration times, from the slowest to the fastest, with the primal-dual method of Fulkerson and
// Kelley. It keeps its flow, its potentials and its tree of labels from one breakpoint to the next (docs/pipeline.md
// has the proof). An object belongs to one thread and runs once.
//
// A node is labelled if a tight path with room reaches it from the source. Labelled nodes keep their time, while all
// others move earlier. A node becomes labelled at the number of ticks at which a way to it becomes tight. When the sink
// becomes labelled, the flow along its path rises. The price of time then jumps, and some branches of the tree lose
// their root.
#pragma once

#include "optimize/pipeline/flow_network.hpp"
#include "optimize/pipeline/label_queue.hpp"

#include <cstdint>
#include <vector>

namespace zeus::optimize::pipeline {

// From `at` ticks below the slowest iteration time on, each tick saved makes the computation longer by `change` more
// ticks than before.
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
  std::vector<Ticks> durations;     // those of the cheapest plan
  std::vector<RateChange> rates;    // ordered by `at`
  std::vector<PriceChange> prices;  // ordered by `at`, ascending
  std::int64_t augmentations = 0;   // how often the flow rose
  std::int64_t labellings = 0;      // how often a node was labelled
};

class FrontierSearch {
 public:
  // The search changes the network: afterwards its flow is that of the fastest plan. The network must outlive the
  // search.
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
  // Labels a node that is due, or postpones it if the way that it was entered for is gone.
  void reconsider(std::int32_t node);
  // Raises the flow by the room on the sink's path. Returns false if that has no bound: no iteration is faster.
  bool augment();
  void uproot();
  bool replant(std::int32_t node);
  bool reaches_source(std::int32_t node);
  void note_rates();

  FlowNetwork& network_;
  Sweep sweep_;
  Ticks saved_ = 0;
  Price price_ = 0;
  std::vector<Ticks> potential_;  // the time of a labelled node; that of any other plus `saved_`
  std::vector<char> labelled_;
  std::vector<Way> parent_;  // the way by which a labelled node was reached
  LabelQueue queue_;
  std::vector<std::int32_t> stale_;  // computations whose rate may have changed
  std::vector<char> is_stale_;
  std::vector<std::int32_t> rate_;
  std::vector<std::int32_t> orphans_;
  std::vector<std::int32_t> dropped_;
  std::vector<std::int64_t> rooted_;  // the last uprooting in which the node proved to be connected to the source
  std::int64_t uprooting_ = 0;
};

}  // namespace zeus::optimize::pipeline
