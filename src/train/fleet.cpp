#include "train/fleet.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace zeus::train {

namespace {

using nlohmann::json;

std::vector<std::string> uuids_of(const GpuGroup& group) {
  std::vector<std::string> uuids;
  for (const SessionGpu& one : group.gpus()) {
    uuids.push_back(one.gpu->identity().uuid);
  }
  return uuids;
}

json summary_of(const GpuGroup& group) {
  json summary{{"gpus", group.size()}};
  if (group.size() == 0) {
    return summary;
  }
  summary["product"] = group.product();
  try {
    const GpuGroup::Range range = group.range();
    summary["lowest"] = range.lowest.value();
    summary["highest"] = range.highest.value();
    summary["max_power"] = range.max_power.value();
    summary["found"] = range.found ? json(range.found->value()) : json();
    summary["clocks"] = json::array();
    for (const Megahertz clock : range.clocks) {
      summary["clocks"].push_back(clock.value());
    }
  } catch (const Error& error) {
    summary["unsettable"] = error.what();
  }
  return summary;
}

void join_range(Fleet& fleet, const json& summary) {
  const bool first = fleet.gpus == 0;
  const Watts lowest{summary.at("lowest").get<double>()};
  const Watts highest{summary.at("highest").get<double>()};
  fleet.lowest = first ? lowest : std::max(fleet.lowest, lowest);
  fleet.highest = first ? highest : std::min(fleet.highest, highest);
  fleet.max_power += Watts{summary.at("max_power").get<double>()};
  std::optional<Watts> found;
  if (!summary.at("found").is_null()) {
    found = Watts{summary.at("found").get<double>()};
  }
  fleet.found = first || fleet.found == found ? found : std::nullopt;
  std::vector<Megahertz> clocks;
  for (const json& clock : summary.at("clocks")) {
    const Megahertz value{clock.get<double>()};
    if (first || std::ranges::find(fleet.clocks, value) != fleet.clocks.end()) {
      clocks.push_back(value);
    }
  }
  fleet.clocks = std::move(clocks);
}

Fleet join(const std::vector<json>& summaries) {
  Fleet fleet;
  std::vector<std::string> products;
  for (const json& summary : summaries) {
    const auto count = summary.at("gpus").get<std::uint32_t>();
    if (count == 0) {
      continue;
    }
    const auto product = summary.at("product").get<std::string>();
    if (std::ranges::find(products, product) == products.end()) {
      products.push_back(product);
    }
    if (summary.contains("unsettable")) {
      fleet.unsettable = summary.at("unsettable").get<std::string>();
    } else {
      join_range(fleet, summary);
    }
    fleet.gpus += count;
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
  if (!ranks.alone()) {
    const std::vector<std::string> seen = ranks.gather(json(uuids_of(group)).dump());
    for (int lower = 0; lower < ranks.rank(); ++lower) {
      group.leave_out(json::parse(seen[static_cast<std::size_t>(lower)]).get<std::vector<std::string>>());
    }
  }
  std::vector<json> summaries;
  for (const std::string& text : ranks.gather(summary_of(group).dump())) {
    summaries.push_back(json::parse(text));
  }
  return join(summaries);
}

}  // namespace zeus::train
