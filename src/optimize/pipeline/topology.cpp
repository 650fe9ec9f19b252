#include "optimize/pipeline/topology.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace zeus::optimize::pipeline {

namespace {

constexpr std::size_t most_in_a_graph = 100'000'000;

// The successors of each computation, as positions in `dependencies`.
struct Successors {
  std::vector<std::size_t> first;
  std::vector<std::size_t> dependency;

  explicit Successors(const records::ComputationGraph& graph)
      : first(graph.computations.size() + 1, 0), dependency(graph.dependencies.size()) {
    for (const records::Dependency& edge : graph.dependencies) {
      ++first[edge.from + 1];
    }
    for (std::size_t i = 1; i < first.size(); ++i) {
      first[i] += first[i - 1];
    }
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t i = 0; i < graph.dependencies.size(); ++i) {
      dependency[next[graph.dependencies[i].from]++] = i;
    }
  }
};

// Walks backwards among the computations that could not be ordered until one comes up twice.
[[noreturn]] void refuse_cycle(const records::ComputationGraph& graph, const std::vector<std::size_t>& waiting_for) {
  std::vector<std::size_t> before(graph.computations.size(), 0);
  std::size_t at = 0;
  for (const records::Dependency& edge : graph.dependencies) {
    if (waiting_for[edge.from] > 0 && waiting_for[edge.to] > 0) {
      before[edge.to] = edge.from;
      at = edge.to;
    }
  }
  std::vector<std::size_t> seen_at(graph.computations.size(), 0);
  std::vector<std::size_t> walk;
  while (seen_at[at] == 0) {
    walk.push_back(at);
    seen_at[at] = walk.size();
    at = before[at];
  }
  std::string names = graph.computations[at].name;
  constexpr std::size_t most_named = 8;
  std::size_t named = 0;
  for (std::size_t i = walk.size(); i-- > seen_at[at] - 1 && named < most_named; ++named) {
    names += " -> " + graph.computations[walk[i]].name;
  }
  if (named == most_named) {
    names += " -> ...";
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("the dependencies run in a circle: {}", names),
              "remove one of them"};
}

}  // namespace

void check(const records::ComputationGraph& graph) {
  const std::size_t count = graph.computations.size();
  if (count == 0) {
    throw Error{ErrorKind::invalid_argument, "the graph has no computation", "give at least one"};
  }
  if (count > most_in_a_graph || graph.dependencies.size() > most_in_a_graph) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} computations are too many", count),
                fmt::format("plan at most {}", most_in_a_graph)};
  }
  if (graph.devices == 0 || graph.copies == 0) {
    throw Error{ErrorKind::invalid_argument, "the graph has no device or no copy", "give at least one of each"};
  }
  for (const records::Computation& computation : graph.computations) {
    if (computation.profile >= graph.profiles.size() || computation.device >= graph.devices) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the computation '{}' names a profile or device that does not exist", computation.name),
                  "number profiles and devices from 0"};
    }
  }
  for (const records::Dependency& edge : graph.dependencies) {
    if (edge.from >= count || edge.to >= count) {
      throw Error{ErrorKind::invalid_argument, "a dependency names a computation that does not exist",
                  "number computations from 0"};
    }
    if (!std::isfinite(edge.time.value()) || edge.time < Seconds{0}) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the communication from '{}' to '{}' takes {} s", graph.computations[edge.from].name,
                              graph.computations[edge.to].name, edge.time.value()),
                  "give a finite time that is not negative"};
    }
  }
  topological_order(graph);
}

std::vector<std::size_t> topological_order(const records::ComputationGraph& graph) {
  const std::size_t count = graph.computations.size();
  const Successors successors{graph};
  std::vector<std::size_t> waiting_for(count, 0);
  for (const records::Dependency& edge : graph.dependencies) {
    ++waiting_for[edge.to];
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (waiting_for[i] == 0) {
      order.push_back(i);
    }
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::size_t k = successors.first[order[at]]; k < successors.first[order[at] + 1]; ++k) {
      const std::size_t next = graph.dependencies[successors.dependency[k]].to;
      if (--waiting_for[next] == 0) {
        order.push_back(next);
      }
    }
  }
  if (order.size() < count) {
    refuse_cycle(graph, waiting_for);
  }
  return order;
}

std::vector<Seconds> earliest_starts(const records::ComputationGraph& graph, std::span<const Seconds> durations) {
  const Successors successors{graph};
  std::vector<Seconds> starts(graph.computations.size(), Seconds{0});
  for (const std::size_t i : topological_order(graph)) {
    for (std::size_t k = successors.first[i]; k < successors.first[i + 1]; ++k) {
      const records::Dependency& edge = graph.dependencies[successors.dependency[k]];
      starts[edge.to] = std::max(starts[edge.to], starts[i] + durations[i] + edge.time);
    }
  }
  return starts;
}

Seconds iteration_time(const records::ComputationGraph& graph, std::span<const Seconds> durations) {
  const std::vector<Seconds> starts = earliest_starts(graph, durations);
  Seconds last{0};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    last = std::max(last, starts[i] + durations[i]);
  }
  return last;
}

}  // namespace zeus::optimize::pipeline
