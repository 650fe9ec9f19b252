#include "cli/simulate_cluster_command.hpp"

#include "cli/input_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "research/cluster_generator.hpp"
#include "research/cluster_simulation.hpp"
#include "research/cluster_study.hpp"
#include "research/cluster_trace.hpp"
#include "research/xz.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <ostream>
#include <utility>

namespace zeus::cli {

namespace {

std::vector<research::ClusterGroup> read_groups(const std::vector<std::string>& paths) {
  std::vector<research::ClusterGroup> groups;
  for (const std::string& path : paths) {
    std::string content = read_input_file(path);
    if (research::is_xz(content)) {
      content = research::unpack_xz(path, content);
    }
    std::vector<research::ClusterGroup> read = research::parse_cluster_trace(path, content);
    groups.insert(groups.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
  }
  if (groups.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} has no group of finished jobs", paths.front()),
                "give a file with rows"};
  }
  return research::joined_groups(std::move(groups));
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
  const research::ClusterWorkloads all =
      research::cluster_workloads(trace::parse_train_trace(train_trace_, read_input_file(train_trace_)),
                                  trace::parse_power_trace(power_trace_, read_input_file(power_trace_)), eta_);
  const std::string policy = policy_.empty() ? std::string{optimize::best_policy} : policy_;
  const simulate::PolicyFactory factory = [&policy](const optimize::JobSpec& spec) {
    return optimize::make_policy(policy, spec);
  };
  std::vector<research::ClusterTotal> totals(all.stages.size());
  std::uint64_t number = 0;
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock, has_working_line(context.environment)};
  working->show("zeus: reading");
  const auto simulate_one = [&](std::size_t workload, const std::vector<research::ClusterJob>& jobs) {
    working->show(fmt::format("zeus: group {}", number + 1));
    research::simulate_group(all.stages[workload], jobs, beta_, factory, seed_ + ++number, totals[workload]);
  };
  if (groups_.empty()) {
    research::ClusterGenerator generator{research::parse_cluster_plan(generate_), all.typical_times};
    while (const auto group = generator.next()) {
      simulate_one(group->workload, group->jobs);
    }
  } else {
    std::vector<research::ClusterGroup> groups = read_groups(groups_);
    const std::vector<std::size_t> assigned = research::workloads_of(groups, all);
    for (std::size_t group = 0; group < groups.size(); ++group) {
      simulate_one(assigned[group], groups[group].jobs);
    }
  }
  working.reset();
  context.out << (json_ ? research::cluster_json(policy, all, totals) + '\n'
                        : research::cluster_table(policy, all, totals));
  return exit_ok;
}

}  // namespace zeus::cli
