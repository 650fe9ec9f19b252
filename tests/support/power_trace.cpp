#include "tests/support/power_trace.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace zeus::test {

std::optional<std::filesystem::path> published_traces() {
  const std::filesystem::path folder = std::filesystem::path{ZEUS_SOURCE_FOLDER}.parent_path() / "shared" / "traces";
  return std::filesystem::exists(folder / "summary_power_v100.csv") ? std::optional{folder} : std::nullopt;
}

std::vector<TraceGroup> read_power_trace(const std::filesystem::path& file) {
  std::ifstream stream{file};
  std::string line;
  if (!std::getline(stream, line)) {
    throw Error{ErrorKind::not_found, "cannot read the power trace " + file.string()};
  }
  std::map<std::pair<std::string, int>, std::map<int, physics::EpochObservation>> rows;
  while (std::getline(stream, line)) {
    std::istringstream cells{line};
    std::string dataset;
    std::string network;
    std::string batch_size;
    std::string optimizer;
    std::string limit;
    std::string time;
    std::string power;
    for (std::string* cell : {&dataset, &network, &batch_size, &optimizer, &limit, &time, &power}) {
      std::getline(cells, *cell, ',');
    }
    const std::string workload = dataset.append("/").append(network).append("/").append(optimizer);
    rows[{workload, std::stoi(batch_size)}][std::stoi(limit)] = {Watts{std::stod(limit)}, Seconds{std::stod(time)},
                                                                 Watts{std::stod(power)}};
  }
  std::vector<TraceGroup> groups;
  for (const auto& [key, limits] : rows) {
    TraceGroup& group = groups.emplace_back(TraceGroup{.workload = key.first, .batch_size = key.second});
    for (const auto& [limit, row] : limits) {
      (group.fitted.size() <= group.held_out.size() ? group.fitted : group.held_out).push_back(row);
    }
  }
  return groups;
}

bool breaks_physics(const TraceGroup& group, const physics::EpochObservation& row, Watts waiting) {
  std::vector<physics::EpochObservation> rows = group.fitted;
  rows.insert(rows.end(), group.held_out.begin(), group.held_out.end());
  const auto highest = std::ranges::max(rows, {}, &physics::EpochObservation::limit);
  if (highest.power < waiting + 25_W) {
    return false;
  }
  const auto kernels = [&](const physics::EpochObservation& epoch) { return (epoch.power - waiting) * epoch.time; };
  return std::ranges::any_of(rows, [&](const physics::EpochObservation& other) {
    return other.limit > row.limit && kernels(row) > 1.12 * kernels(other);
  });
}

}  // namespace zeus::test
