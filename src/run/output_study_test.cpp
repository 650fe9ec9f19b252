#include "run/output_study.hpp"

#include "run/heard_progress.hpp"
#include "run/printed_numbers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace zeus::run {

namespace {

std::string read(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream{std::filesystem::path{ZEUS_FIXTURES_FOLDER} / "outputs" / name, std::ios::binary}.rdbuf();
  return text.str();
}

Proposal study(const std::string& errors, const std::string& output) {
  OutputStudy study;
  study.hear(1, errors);
  study.hear(0, output);
  study.finish();
  return study.propose();
}

// What `zeus run` sees with the proposed expressions.
struct Heard {
  std::vector<double> metrics;
  std::uint64_t epochs = 0;
  std::uint64_t steps = 0;
};

Heard hear(const Proposal& proposal, const std::string& errors, const std::string& output) {
  PatternTexts texts;
  texts.metric = proposal.metric ? proposal.metric->expression.text : "";
  texts.epoch = proposal.epochs && proposal.epochs->expression ? proposal.epochs->expression->text : "";
  texts.step = proposal.steps ? proposal.steps->expression.text : "";
  HeardProgress heard{texts};
  heard.hear(1, errors);
  heard.hear(0, output);
  heard.finish();
  Heard result;
  for (const trial::Progress& progress : heard.take()) {
    if (const auto* const metric = std::get_if<trial::MetricSeen>(&progress)) {
      result.metrics.push_back(metric->value);
    } else if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
      result.epochs += epochs->count;
    } else {
      result.steps += std::get<trial::StepsDone>(progress).count;
    }
  }
  return result;
}

struct Dialect {
  std::string name;
  std::string metric;
  bool higher_is_better = true;
  double first = 0.0;
  double last = 0.0;
  std::uint64_t epochs = 5;
  std::uint64_t steps = 0;  // over all epochs
};

std::string words(const std::string& metric, bool higher, double first, double last, std::uint64_t epochs) {
  return fmt::format("{}, {} is better, from {} to {}, {} epochs", metric, higher ? "higher" : "lower", first, last,
                     epochs);
}

// What is proposed for a dialect, with its steps where these are far off.
std::string reading_of(const Dialect& dialect) {
  const std::string errors = read(dialect.name + ".err");
  const std::string output = read(dialect.name + ".out");
  const Proposal proposal = study(errors, output);
  if (!proposal.metric) {
    return "no metric is proposed";
  }
  const Heard heard = hear(proposal, errors, output);
  if (heard.metrics.empty()) {
    return "the metric is not heard by " + proposal.metric->expression.text;
  }
  std::string reading = words(proposal.metric->name, proposal.metric->higher_is_better, heard.metrics.front(),
                              heard.metrics.back(), heard.epochs);
  const auto steps = static_cast<double>(heard.steps);
  const auto wanted = static_cast<double>(dialect.steps);
  // A bar leaves steps out. Where it happens to jump evenly, the jumps are taken for steps.
  constexpr double about = 0.05;
  if (std::abs(steps - wanted) > about * wanted) {
    reading += fmt::format(", {} steps rather than {}", steps, wanted);
  }
  return reading;
}

TEST(OutputStudy, ProposesWhatCatchesMetricEpochsAndStepsInTwelveDialects) {
  const std::vector<Dialect> dialects{
      {.name = "plain", .metric = "accuracy", .first = 0.5, .last = 0.836, .steps = 200},
      {.name = "pytorch_example", .metric = "Accuracy", .first = 9100, .last = 9500, .steps = 300'800},
      {.name = "pytorch_imagenet", .metric = "Acc@1", .first = 10.234, .last = 30.234, .steps = 500},
      {.name = "tqdm", .metric = "val_acc", .first = 0.5, .last = 0.836, .steps = 250},
      {.name = "tqdm_bare", .metric = "Validation accuracy", .first = 50, .last = 83.6, .steps = 300},
      {.name = "keras_2", .metric = "val_accuracy", .first = 0.5, .last = 0.836, .steps = 250},
      {.name = "keras_3", .metric = "val_accuracy", .first = 0.5, .last = 0.836, .steps = 250},
      {.name = "lightning", .metric = "val_acc", .first = 0.5, .last = 0.836, .steps = 200},
      {.name = "hugging_face", .metric = "eval_accuracy", .first = 0.5, .last = 0.836, .steps = 150},
      {.name = "logging",
       .metric = "valid ppl",
       .higher_is_better = false,
       .first = 60.12,
       .last = 32.12,
       .steps = 500},
      {.name = "partial_fit", .metric = "test R2", .first = 0.5, .last = 1.109, .epochs = 8},
      {.name = "json_lines", .metric = "valid_loss", .higher_is_better = false, .first = 5.8, .last = 5, .steps = 2500},
  };
  for (const Dialect& dialect : dialects) {
    EXPECT_EQ(reading_of(dialect),
              words(dialect.metric, dialect.higher_is_better, dialect.first, dialect.last, dialect.epochs))
        << dialect.name;
  }
}

}  // namespace

}  // namespace zeus::run
