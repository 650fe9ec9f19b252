#include "cli/simulate_cluster_command.hpp"

#include "cli/input_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "records/json_writer.hpp"
#include "simulate/cluster_generator.hpp"
#include "simulate/cluster_simulation.hpp"
#include "simulate/published_jobs.hpp"
#include "trace/cluster_trace.hpp"
#include "trace/xz.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>
#include <utility>

namespace zeus::cli {

namespace {

// The published workloads that both traces contain, ready to be simulated.
struct Workloads {
  std::vector<simulate::Workload> workloads;
  std::vector<std::string> datasets;
  std::vector<simulate::Stage> stages;
  std::vector<Seconds> typical_times;
};

Workloads load(const std::string& train_path, const std::string& power_path, double eta) {
  const trace::TrainTrace train = trace::parse_train_trace(train_path, read_input_file(train_path));
  const trace::PowerTrace power = trace::parse_power_trace(power_path, read_input_file(power_path));
  Workloads all;
  for (const simulate::JobSelection& job : simulate::published_jobs()) {
    all.workloads.push_back(simulate::select_published(train, power, job));
    all.datasets.push_back(job.dataset);
  }
  for (const simulate::Workload& workload : all.workloads) {
    all.stages.emplace_back(workload, eta);
    all.typical_times.push_back(all.stages.back().default_configuration().time);
  }
  return all;
}

std::vector<trace::ClusterGroup> read_groups(const std::vector<std::string>& paths) {
  std::vector<trace::ClusterGroup> groups;
  for (const std::string& path : paths) {
    std::string content = read_input_file(path);
    if (trace::is_xz(content)) {
      content = trace::unpack_xz(path, content);
    }
    std::vector<trace::ClusterGroup> read = trace::parse_cluster_trace(path, content);
    groups.insert(groups.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
  }
  if (groups.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} has no group of finished jobs", paths.front()),
                "give a file with rows"};
  }
  return groups;
}

// The workload of each group: by its data set, or by its run times if the trace names no data set.
std::vector<std::size_t> workloads_of(std::vector<trace::ClusterGroup>& groups, const Workloads& all) {
  const auto raw = std::ranges::count_if(groups, [](const trace::ClusterGroup& group) { return !group.dataset; });
  if (raw == std::ssize(groups)) {
    return simulate::assign_workloads(groups, all.typical_times);
  }
  std::vector<std::size_t> assigned;
  for (const trace::ClusterGroup& group : groups) {
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

void put_total(records::JsonWriter& json, const std::string& title, const simulate::ClusterTotal& total) {
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

simulate::ClusterTotal grand_total(const std::vector<simulate::ClusterTotal>& totals) {
  simulate::ClusterTotal sum;
  for (const simulate::ClusterTotal& total : totals) {
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

std::string table_row(const std::string& title, const simulate::ClusterTotal& total) {
  const bool any = total.jobs > 0;
  return fmt::format("{:<42} {:>8} {:>10} {:>10} {:>12} {:>12}\n", title, total.groups, total.jobs, total.tries,
                     any ? fmt::format("{:.3f}", total.energy / total.default_energy) : "-",
                     any ? fmt::format("{:.3f}", total.time / total.default_time) : "-");
}

}  // namespace

void SimulateClusterCommand::declare(Options& options) {
  options.example("zeus simulate cluster --train-trace train.csv --power-trace v100.csv --generate jobs=1000,days=30",
                  "a month of a made-up cluster");
  options.add_option("--train-trace", train_trace_, "CSV of epochs to each target").path().required();
  options.add_option("--power-trace", power_trace_, "CSV of epoch times and powers of one GPU model").path().required();
  command_line::Option groups = options.add_option("--groups", groups_, "CSV of overlapping jobs, plain or .xz").path();
  command_line::Option generate =
      options.add_option("--generate", generate_, "Synthetic groups: jobs=N,days=D,min=N,max=N,power=P,seed=S")
          .value_name("SPEC");
  groups.excludes(generate);
  options.add_option("--eta", eta_, "Weight of energy against time: 0 counts time alone, 1 energy alone")
      .rule(field::share)
      .with_default()
      .value_name("ETA");
  options.add_option("--beta", beta_, "Stop a try once it costs this many times the least so far; inf: never")
      .rule({.least = 0.0, .above_least = true, .null_is_infinite = true})
      .with_default()
      .value_name("BETA");
  options.add_option("--policy", policy_, "zeus, grid, default or lookahead")
      .value_name("P")
      .with_default("the best one");
  options.add_option("--seed", seed_, "The seed of every random draw")
      .rule({.least = 0.0, .most = 1e18})
      .with_default()
      .value_name("S");
  options.add_flag("--json", json_, "Print one JSON object");
}

int SimulateClusterCommand::run(Context& context) {
  if (groups_.empty() && generate_.empty()) {
    throw BadUsage{"there is no cluster to simulate", "give --groups FILE or --generate SPEC"};
  }
  const Workloads all = load(train_trace_, power_trace_, eta_);
  const std::string policy = policy_.empty() ? std::string{optimize::best_policy} : policy_;
  const simulate::PolicyFactory factory = [&policy](const optimize::JobSpec& spec) {
    return optimize::make_policy(policy, spec);
  };
  std::vector<simulate::ClusterTotal> totals(all.stages.size());
  std::uint64_t number = 0;
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock, has_working_line(context.environment)};
  working->show("zeus: reading");
  const auto simulate_one = [&](std::size_t workload, const std::vector<trace::ClusterJob>& jobs) {
    working->show(fmt::format("zeus: group {}", number + 1));
    simulate::simulate_group(all.stages[workload], jobs, beta_, factory, seed_ + ++number, totals[workload]);
  };
  if (groups_.empty()) {
    simulate::ClusterGenerator generator{simulate::parse_cluster_plan(generate_), all.typical_times};
    while (const auto group = generator.next()) {
      simulate_one(group->workload, group->jobs);
    }
  } else {
    std::vector<trace::ClusterGroup> groups = read_groups(groups_);
    const std::vector<std::size_t> assigned = workloads_of(groups, all);
    for (std::size_t group = 0; group < groups.size(); ++group) {
      simulate_one(assigned[group], groups[group].jobs);
    }
  }
  working.reset();
  const simulate::ClusterTotal sum = grand_total(totals);
  if (json_) {
    records::JsonWriter json;
    json.object([&] {
      json.put("policy", policy);
      std::size_t workload = 0;
      json.put_list("workloads", totals, [&](const simulate::ClusterTotal& total) {
        json.object([&] { put_total(json, all.workloads[workload++].name, total); });
      });
      json.put("total", [&] { put_total(json, "all", sum); });
    });
    context.out << json.take() << '\n';
    return exit_ok;
  }
  context.out << fmt::format("{:<42} {:>8} {:>10} {:>10} {:>12} {:>12}\n", "workload under " + policy, "groups", "jobs",
                             "tries", "energy ratio", "time ratio");
  for (std::size_t workload = 0; workload < totals.size(); ++workload) {
    context.out << table_row(all.workloads[workload].name, totals[workload]);
  }
  context.out << table_row("all (ratios are to the default)", sum);
  return exit_ok;
}

}  // namespace zeus::cli
