// Compares the frontier with a linear program: the same problem, written from its definition over all measured points
// instead of their hull, and solved by Debian's CLP.
#include "optimize/pipeline/frontier.hpp"
#include "optimize/pipeline/topology.hpp"
#include "tests/support/random_graph.hpp"

#include <coin/Clp_C_Interface.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

namespace zeus::optimize::pipeline {
namespace {

// Columns: the iteration time, a start for each computation, and the share of the computation run at each of its
// options.
class LinearProgram {
 public:
  LinearProgram(const records::ComputationGraph& graph, Watts blocking_power) : graph_{graph} {
    Clp_setLogLevel(model_.get(), 0);
    add_columns(blocking_power);
    add_rows();
    Clp_setPrimalTolerance(model_.get(), 1e-9);
    Clp_setDualTolerance(model_.get(), 1e-9);
  }

  Joules least_energy(Seconds iteration_time) {
    Clp_columnLower(model_.get())[0] = iteration_time.value();
    Clp_columnUpper(model_.get())[0] = iteration_time.value();
    Clp_dual(model_.get(), 0);
    EXPECT_EQ(Clp_status(model_.get()), 0) << "CLP found no optimum at " << iteration_time.value() << " s";
    return Joules{Clp_objectiveValue(model_.get())};
  }

 private:
  struct Deleter {
    void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
  };

  void add_columns(Watts blocking_power) {
    const auto copies = static_cast<double>(graph_.copies);
    add_column(1e30, (blocking_power * static_cast<double>(graph_.devices)).value() * copies);
    for (std::size_t i = 0; i < graph_.computations.size(); ++i) {
      add_column(1e30, 0.0);
    }
    for (const records::Computation& computation : graph_.computations) {
      first_share_.push_back(Clp_numberColumns(model_.get()));
      for (const records::FrequencyOption& option : graph_.profiles[computation.profile].options) {
        add_column(1.0, (option.energy - blocking_power * option.time).value() * copies);
      }
    }
  }

  void add_rows() {
    std::vector<bool> has_successor(graph_.computations.size(), false);
    for (const records::Dependency& edge : graph_.dependencies) {
      has_successor[edge.from] = true;
      add_row_after(edge.from, 1 + static_cast<int>(edge.to), edge.time.value());
    }
    for (std::size_t i = 0; i < graph_.computations.size(); ++i) {
      add_row_after(i, 0, 0.0);
      std::vector<int> columns;
      std::vector<double> values;
      for (std::size_t k = 0; k < options_of(i).size(); ++k) {
        columns.push_back(first_share_[i] + static_cast<int>(k));
        values.push_back(1.0);
      }
      add_row(1.0, 1.0, columns, values);
    }
  }

  // later >= start of i + its duration + gap
  void add_row_after(std::size_t i, int later, double gap) {
    std::vector<int> columns{later, 1 + static_cast<int>(i)};
    std::vector<double> values{1.0, -1.0};
    for (std::size_t k = 0; k < options_of(i).size(); ++k) {
      columns.push_back(first_share_[i] + static_cast<int>(k));
      values.push_back(-options_of(i)[k].time.value());
    }
    add_row(gap, 1e30, columns, values);
  }

  [[nodiscard]] const std::vector<records::FrequencyOption>& options_of(std::size_t i) const {
    return graph_.profiles[graph_.computations[i].profile].options;
  }

  void add_column(double upper, double cost) {
    const double lower = 0.0;
    const int start[2] = {0, 0};
    Clp_addColumns(model_.get(), 1, &lower, &upper, &cost, start, nullptr, nullptr);
  }

  void add_row(double lower, double upper, const std::vector<int>& columns, const std::vector<double>& values) {
    const int starts[2] = {0, static_cast<int>(columns.size())};
    Clp_addRows(model_.get(), 1, &lower, &upper, starts, columns.data(), values.data());
  }

  const records::ComputationGraph& graph_;
  std::unique_ptr<Clp_Simplex, Deleter> model_{Clp_newModel()};
  std::vector<int> first_share_;
};

// The energy of the durations by the definition. Also checks that mixtures of options can have these durations.
Joules energy_of_durations(const records::ComputationGraph& graph, Watts blocking_power, Seconds time,
                           const std::vector<Seconds>& durations) {
  Joules energy = blocking_power * static_cast<double>(graph.devices) * time;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const auto efficient = efficient_options(graph.profiles[graph.computations[i].profile], blocking_power);
    EXPECT_GE(durations[i].value(), efficient.front().time.value() * (1 - 1e-9) - 1e-12);
    EXPECT_LE(durations[i].value(), efficient.back().time.value() * (1 + 1e-9) + 1e-12);
    energy += cost_at(trade_off_of(efficient, blocking_power), std::max(durations[i], efficient.front().time));
  }
  return energy * static_cast<double>(graph.copies);
}

constexpr int random_graphs = 200;
constexpr int times_per_graph = 20;

TEST(FrontierExactness, EqualsTheLinearProgramOnRandomGraphs) {
  double worst = 0.0;
  for (int number = 0; number < random_graphs; ++number) {
    SCOPED_TRACE(number);
    Random random{71, static_cast<std::uint64_t>(number)};
    const records::ComputationGraph graph = test::random_graph(random, {});
    const Watts blocking{number % 5 == 0 ? 0.0 : random.uniform(0.0, 120.0)};
    const Frontier frontier{graph, blocking};
    LinearProgram program{graph, blocking};
    const Seconds range = frontier.slowest() - frontier.fastest();
    for (int k = 0; k < times_per_graph; ++k) {
      const Seconds time = frontier.fastest() + range * (static_cast<double>(k) / (times_per_graph - 1) * 1.05);
      const Joules optimum = program.least_energy(time + Seconds{1e-12});
      const Joules ours = frontier.energy_at(time);
      const double difference = std::abs(ours / optimum - 1.0);
      worst = std::max(worst, difference);
      EXPECT_LT(difference, 1e-6) << "at " << time.value() << " s: " << ours.value() << " J, CLP " << optimum.value();
    }
  }
  std::cout << fmt::format("worst relative difference from the linear program: {:.2e} over {} graphs, {} times each\n",
                           worst, random_graphs, times_per_graph);
}

TEST(FrontierExactness, PlansAreFeasibleAndHaveTheFrontiersEnergy) {
  for (int number = 0; number < random_graphs; ++number) {
    SCOPED_TRACE(number);
    Random random{72, static_cast<std::uint64_t>(number)};
    const records::ComputationGraph graph = test::random_graph(random, {});
    const Watts blocking{random.uniform(0.0, 120.0)};
    const Frontier frontier{graph, blocking};
    const Seconds range = frontier.slowest() - frontier.fastest();
    for (int k = 0; k < times_per_graph; ++k) {
      const Seconds time = frontier.fastest() + range * random.uniform();
      const std::vector<Seconds> durations = frontier.durations_at(time);
      EXPECT_LE(iteration_time(graph, durations).value(), time.value() * (1 + 1e-9));
      EXPECT_NEAR(energy_of_durations(graph, blocking, time, durations) / frontier.energy_at(time), 1.0, 1e-7);
    }
  }
}

}  // namespace
}  // namespace zeus::optimize::pipeline
