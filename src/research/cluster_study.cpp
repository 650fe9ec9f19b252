#include "research/cluster_study.hpp"

#include "records/json_writer.hpp"
#include "research/published_jobs.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace zeus::research {

namespace {

void put_total(records::JsonWriter& json, const std::string& title, const ClusterTotal& total) {
  json.put("workload", title);
  json.put("groups", total.groups);
  json.put("jobs", total.jobs);
  json.put("tries", total.tries);
  json.put("given_up", total.given_up);
  json.put("energy_j", total.energy);
  json.put("time_s", total.time);
  json.put("default_energy_j", total.default_energy);
  json.put("default_time_s", total.default_time);
}

ClusterTotal grand_total(const std::vector<ClusterTotal>& totals) {
  ClusterTotal sum;
  for (const ClusterTotal& total : totals) {
    sum.groups += total.groups;
    sum.jobs += total.jobs;
    sum.tries += total.tries;
    sum.given_up += total.given_up;
    sum.energy += total.energy;
    sum.time += total.time;
    sum.default_energy += total.default_energy;
    sum.default_time += total.default_time;
  }
  return sum;
}

std::string table_row(const std::string& title, const ClusterTotal& total) {
  const bool any = total.jobs > 0;
  return fmt::format("{:<42} {:>8} {:>10} {:>10} {:>12} {:>12}\n", title, total.groups, total.jobs, total.tries,
                     any ? fmt::format("{:.3f}", total.energy / total.default_energy) : "-",
                     any ? fmt::format("{:.3f}", total.time / total.default_time) : "-");
}

}  // namespace

ClusterWorkloads cluster_workloads(const trace::TrainTrace& train, const trace::PowerTrace& power, double eta) {
  ClusterWorkloads all;
  for (const simulate::JobSelection& job : published_jobs()) {
    all.workloads.push_back(select_published(train, power, job));
    all.datasets.push_back(job.dataset);
  }
  for (const simulate::Workload& workload : all.workloads) {
    all.stages.emplace_back(workload, eta);
    all.typical_times.push_back(all.stages.back().default_configuration().time);
  }
  return all;
}

std::vector<std::size_t> workloads_of(std::vector<ClusterGroup>& groups, const ClusterWorkloads& all) {
  const auto raw = std::ranges::count_if(groups, [](const ClusterGroup& group) { return !group.dataset; });
  if (raw == std::ssize(groups)) {
    return assign_workloads(groups, all.typical_times);
  }
  std::vector<std::size_t> assigned;
  for (const ClusterGroup& group : groups) {
    const auto place = std::ranges::find(all.datasets, group.dataset.value_or(""));
    if (place == all.datasets.end()) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("group {} is of data set '{}', which is not a published workload", group.name,
                              group.dataset.value_or("")),
                  fmt::format("use one of {}", fmt::join(all.datasets, ", "))};
    }
    assigned.push_back(static_cast<std::size_t>(place - all.datasets.begin()));
  }
  return assigned;
}

std::string cluster_json(const std::string& policy, const ClusterWorkloads& all,
                         const std::vector<ClusterTotal>& totals) {
  records::JsonWriter json;
  json.object([&] {
    json.put("policy", policy);
    std::size_t workload = 0;
    json.put_list("workloads", totals, [&](const ClusterTotal& total) {
      json.object([&] { put_total(json, all.workloads[workload++].name, total); });
    });
    json.put("total", [&] { put_total(json, "all", grand_total(totals)); });
  });
  return json.take();
}

std::string cluster_table(const std::string& policy, const ClusterWorkloads& all,
                          const std::vector<ClusterTotal>& totals) {
  std::string text = fmt::format("{:<42} {:>8} {:>10} {:>10} {:>12} {:>12}\n", "workload under " + policy, "groups",
                                 "jobs", "tries", "energy ratio", "time ratio");
  for (std::size_t workload = 0; workload < totals.size(); ++workload) {
    text += table_row(all.workloads[workload].name, totals[workload]);
  }
  return text + table_row("all (ratios are to the default)", grand_total(totals));
}

}  // namespace zeus::research
