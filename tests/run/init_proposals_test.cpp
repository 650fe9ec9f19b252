// The proposals of `zeus init` for 200 generated scripts in twelve dialects find their metric and their epochs.
#include "run/heard_progress.hpp"
#include "run/output_study.hpp"
#include "tests/run/truth_printer.hpp"
#include "tests/run/truth_script.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::truth {
namespace {

constexpr std::uint64_t scripts = 200;
constexpr double enough = 0.9;

struct Printed {
  std::vector<std::pair<std::size_t, std::string>> pieces;  // by stream
  std::vector<double> metrics;                              // of each epoch
};

Printed print(const Script& script) {
  Printed printed;
  const Arm& arm = script.arms[script.usual];
  constexpr int most_epochs = 12;
  const int epochs = std::clamp(static_cast<int>(std::ceil(arm.epochs)), 1, most_epochs);
  Printer printer{script, arm, epochs,
                  [&](std::size_t stream, std::string_view bytes) { printed.pieces.emplace_back(stream, bytes); }};
  VirtualClock clock;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    printer.begin_epoch(clock.now());
    for (int step = 0; step < arm.steps; ++step) {
      clock.sleep_until(clock.now() + arm.step);
      printer.end_step(clock.now());
    }
    printer.end_steps();
    printed.metrics.push_back(0.5 + 0.03 * epoch);
    printer.end_epoch(printed.metrics.back());
  }
  printer.end();
  return printed;
}

bool catches(const Printed& printed) {
  run::OutputStudy study;
  for (const auto& [stream, bytes] : printed.pieces) {
    study.hear(stream, bytes);
  }
  study.finish();
  const run::Proposal proposal = study.propose();
  if (!proposal.metric || !proposal.epochs) {
    return false;
  }
  run::HeardProgress heard{{.metric = proposal.metric->expression.text,
                            .epoch = proposal.epochs->expression ? proposal.epochs->expression->text : "",
                            .step = proposal.steps ? proposal.steps->expression.text : ""}};
  for (const auto& [stream, bytes] : printed.pieces) {
    heard.hear(stream, bytes);
  }
  heard.finish();
  std::vector<double> metrics;
  std::uint64_t epochs = 0;
  for (const trial::Progress& progress : heard.take()) {
    if (const auto* const metric = std::get_if<trial::MetricSeen>(&progress)) {
      metrics.push_back(metric->value);
    } else if (const auto* const over = std::get_if<trial::EpochsDone>(&progress)) {
      epochs += over->count;
    }
  }
  constexpr double as_printed = 1e-4;
  return epochs == printed.metrics.size() &&
         std::ranges::equal(metrics, printed.metrics, [](double a, double b) { return std::abs(a - b) < as_printed; });
}

TEST(InitProposals, CatchMetricAndEpochsOfNineScriptsInTen) {
  std::map<Dialect, std::pair<int, int>> caught;  // of all
  int all = 0;
  for (std::uint64_t seed = 1; seed <= scripts; ++seed) {
    const Script script = write_script(seed, {});
    auto& [here, of] = caught[script.dialect];
    const bool is_caught = catches(print(script));
    here += is_caught ? 1 : 0;
    all += is_caught ? 1 : 0;
    ++of;
  }
  for (const auto& [dialect, shares] : caught) {
    fmt::print("{:20} {} of {}\n", dialect_names.at(static_cast<std::size_t>(dialect)), shares.first, shares.second);
  }
  fmt::print("metric and epochs are caught in {} of {}\n", all, scripts);
  EXPECT_GE(all, enough * scripts);
}

}  // namespace
}  // namespace zeus::truth
