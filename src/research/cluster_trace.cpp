#include "research/cluster_trace.hpp"

#include "trace/csv_reader.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace zeus::research {

namespace {

constexpr double latest = 1e12;
constexpr double largest_ratio = 1e6;

std::vector<ClusterGroup> sorted(std::vector<ClusterGroup> groups) {
  std::ranges::stable_sort(groups, {}, &ClusterGroup::name);
  for (ClusterGroup& group : groups) {
    std::ranges::stable_sort(group.jobs, {}, [](const ClusterJob& job) { return std::tuple{job.start, job.end}; });
  }
  return groups;
}

}  // namespace

std::vector<ClusterGroup> parse_cluster_trace(const std::string& name, std::string_view text) {
  trace::CsvReader reader{name, text};
  const std::size_t group = reader.column("group");
  const std::size_t start = reader.column("start_time");
  const std::size_t end = reader.column("end_time");
  const bool raw = !reader.has_column("dataset");
  const std::size_t dataset = reader.column(raw ? "status" : "dataset");
  const std::size_t ratio = raw ? 0 : reader.column("runtime_ratio");
  std::vector<ClusterGroup> groups;
  std::unordered_map<std::string, std::size_t> place;
  while (reader.next()) {
    if (raw && reader.text(dataset) != "Terminated") {
      continue;
    }
    const auto [known, fresh] = place.try_emplace(std::string{reader.word(group)}, groups.size());
    if (fresh) {
      groups.push_back({.name = known->first, .dataset = std::nullopt, .jobs = {}});
      if (!raw) {
        groups.back().dataset = std::string{reader.word(dataset)};
      }
    }
    ClusterGroup& mine = groups[known->second];
    if (!raw && *mine.dataset != reader.text(dataset)) {
      throw reader.error(
          fmt::format("group {} has two data sets, {} and {}", mine.name, *mine.dataset, reader.text(dataset)));
    }
    const ClusterJob job{.start = Seconds{reader.number(start, 0.0, latest)},
                         .end = Seconds{reader.number(end, 0.0, latest)},
                         .runtime_ratio = raw ? 1.0 : reader.number(ratio, 1e-6, largest_ratio)};
    if (job.end < job.start) {
      throw reader.error("the job ends before it starts");
    }
    mine.jobs.push_back(job);
  }
  return sorted(std::move(groups));
}

std::vector<ClusterGroup> joined_groups(std::vector<ClusterGroup> groups) {
  std::vector<ClusterGroup> all;
  for (ClusterGroup& group : sorted(std::move(groups))) {
    if (all.empty() || all.back().name != group.name) {
      all.push_back(std::move(group));
      continue;
    }
    if (all.back().dataset != group.dataset) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("group {} has two data sets, {} and {}", group.name, all.back().dataset.value_or("none"),
                              group.dataset.value_or("none")),
                  "give the files of one trace"};
    }
    all.back().jobs.insert(all.back().jobs.end(), group.jobs.begin(), group.jobs.end());
  }
  return sorted(std::move(all));
}

}  // namespace zeus::research
