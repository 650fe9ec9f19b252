#include "train/fleet.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>
#include <zeus/fields.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::train {

namespace {

// The refusal of another rank's answer that cannot be read.
constexpr records::JsonForm rank_report_form{.refusal = "this is not a rank's report of its GPUs",
                                             .advice = "Run the same release of Zeus in every rank."};

std::vector<std::string> uuids_of(const GpuGroup& group) {
  std::vector<std::string> uuids;
  for (const SessionGpu& one : group.gpus()) {
    uuids.push_back(one.gpu->identity().uuid);
  }
  return uuids;
}

// What one rank has.
struct Holding {
  std::size_t gpus = 0;
  std::string product;
  GpuGroup::Range range;
  std::string unsettable;  // why there is no range; empty if there is one

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpus", self.gpus);
    fields("product", self.product);
    fields({}, self.range, field::beside);
    fields("unsettable", self.unsettable);
  }
};

Holding holding_of(const GpuGroup& group) {
  Holding holding{.gpus = group.size(), .product = {}, .range = {}, .unsettable = {}};
  if (holding.gpus == 0) {
    return holding;
  }
  holding.product = group.product();
  try {
    holding.range = group.range();
  } catch (const Error& error) {
    holding.unsettable = error.what();
  }
  return holding;
}

void join_range(Fleet& fleet, const GpuGroup::Range& range) {
  const bool first = fleet.gpus == 0;
  fleet.lowest = first ? range.lowest : std::max(fleet.lowest, range.lowest);
  fleet.highest = first ? range.highest : std::min(fleet.highest, range.highest);
  fleet.max_power += range.max_power;
  fleet.found = first || fleet.found == range.found ? range.found : std::nullopt;
  std::vector<Megahertz> clocks;
  for (const Megahertz clock : range.clocks) {
    if (first || std::ranges::find(fleet.clocks, clock) != fleet.clocks.end()) {
      clocks.push_back(clock);
    }
  }
  fleet.clocks = std::move(clocks);
  fleet.allowed.insert(fleet.allowed.end(), range.allowed.begin(), range.allowed.end());
}

Fleet join(const std::vector<Holding>& holdings) {
  Fleet fleet;
  std::vector<std::string> products;
  for (const Holding& one : holdings) {
    if (one.gpus == 0) {
      continue;
    }
    if (std::ranges::find(products, one.product) == products.end()) {
      products.push_back(one.product);
    }
    if (one.unsettable.empty()) {
      join_range(fleet, one.range);
    } else {
      fleet.unsettable = one.unsettable;
    }
    fleet.gpus += static_cast<std::uint32_t>(one.gpus);
  }
  std::ranges::sort(products);
  fleet.product = fmt::format("{}", fmt::join(products, " + "));
  if (fleet.gpus == 0) {
    fleet.unsettable = "there is no GPU to set";
  } else if (fleet.unsettable.empty() && !(fleet.lowest <= fleet.highest)) {
    fleet.unsettable = fmt::format(
        "there is no power limit that all {} GPUs allow: one needs at least {:.6g} W, "
        "another takes at most {:.6g} W",
        fleet.gpus, fleet.lowest.value(), fleet.highest.value());
  }
  return fleet;
}

}  // namespace

Fleet survey(GpuGroup& group, Ranks& ranks) {
  if (ranks.alone()) {
    return join({holding_of(group)});
  }
  const std::vector<std::string> seen = ranks.gather(records::json_line(uuids_of(group)));
  for (int lower = 0; lower < ranks.rank(); ++lower) {
    group.leave_out(
        records::record_from_json<std::vector<std::string>>(seen[static_cast<std::size_t>(lower)], rank_report_form));
  }
  std::vector<Holding> holdings;
  for (const std::string& text : ranks.gather(records::json_line(holding_of(group)))) {
    holdings.push_back(records::record_from_json<Holding>(text, rank_report_form));
  }
  return join(holdings);
}

}  // namespace zeus::train
