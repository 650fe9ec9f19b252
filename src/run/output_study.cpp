#include "run/output_study.hpp"

#include "run/printed_numbers.hpp"
#include "run/progress_patterns.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace zeus::run {

namespace {

constexpr std::size_t most_lines = 50'000;
constexpr std::size_t most_bytes = std::size_t{8} << 20;
constexpr std::size_t longest_example = 96;

using Lines = std::vector<std::string>;

// The names of metrics, by which way is better.
constexpr std::array<std::string_view, 30> better_higher{
    "acc",       "accuracy", "f1",  "f",    "auc",  "auroc", "map",  "ap",   "bleu",  "rouge",
    "precision", "recall",   "iou", "miou", "dice", "psnr",  "ssim", "r2",   "score", "reward",
    "return",    "top",      "em",  "mrr",  "ndcg", "hits",  "hit",  "corr", "kappa", "fitness"};
constexpr std::array<std::string_view, 19> better_lower{"loss", "nll", "ppl",  "perplexity", "error", "err", "wer",
                                                        "cer",  "mse", "rmse", "mae",        "fid",   "bpc", "bpd",
                                                        "cost", "eer", "ece",  "logloss",    "elbo"};
constexpr std::array<std::string_view, 8> validating{"val", "valid", "validation", "eval",
                                                     "dev", "test",  "evaluation", "testing"};
constexpr std::array<std::string_view, 3> training_words{"train", "training", "tr"};
constexpr std::array<std::string_view, 11> stepping{"step", "steps", "iter",    "iters",  "iteration", "iterations",
                                                    "it",   "batch", "batches", "update", "updates"};
constexpr std::array<std::string_view, 3> epoch_words{"epoch", "epochs", "ep"};

// "acc1" and "valacc" count as "acc".
bool any_of(const std::vector<std::string>& parts, const auto& words) {
  return std::ranges::any_of(parts, [&](const std::string& part) {
    const std::string_view plain = std::string_view{part}.substr(0, part.find_last_not_of("0123456789") + 1);
    return std::ranges::any_of(words, [&](std::string_view word) {
      return part == word || plain == word || (word.size() > 2 && plain.ends_with(word));
    });
  });
}

bool is_one_of(std::string_view name, const auto& words) {
  return any_of(parts_of(name), words);
}

// Numbers of epochs, but not the number of all epochs.
bool is_epoch(const NumberSeries& series) {
  constexpr std::array<std::string_view, 5> bounds{"max", "num", "total", "n", "of"};
  return is_one_of(series.name, epoch_words) && !is_one_of(series.name, bounds) && !is_one_of(series.qualifier, bounds);
}

// Whether the word before the name tells series apart, as "val" and "train" do, and so belongs to the name.
bool qualifies(const NumberSeries& series) {
  return is_one_of(series.qualifier, validating) || is_one_of(series.qualifier, training_words);
}

bool is_shown_as_it_is(char letter) {
  return letter >= 0x20 && letter < 0x7f;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view special = R"(\^$.|?*+()[]{})";
  std::string result;
  for (const char letter : text) {
    if (is_shown_as_it_is(letter)) {
      result += special.find(letter) != std::string_view::npos ? "\\" : "";
      result += letter;
    } else {
      result += fmt::format("\\x{{{:02x}}}", static_cast<unsigned char>(letter));
    }
  }
  return result;
}

// Escaped, with any number of blanks where the text has some.
std::string with_blanks(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ' ' && text[at] != '\t') {
      result += escaped(text.substr(at, 1));
    } else if (at == 0 || (text[at - 1] != ' ' && text[at - 1] != '\t')) {
      result += at + 1 == text.size() ? " *" : " +";
    }
  }
  return result;
}

// The text before the number.
std::string label_of(const NumberSeries& series) {
  if (series.name.empty()) {
    return series.begins_line ? "^ *" : escaped(series.between) + " *";
  }
  const std::string name = (qualifies(series) ? escaped(series.qualifier) + " +" : "") + escaped(series.name);
  const bool blank = series.between.find_first_not_of(" \t") == std::string::npos;
  return name + (blank && !series.between.empty() ? " +" : with_blanks(series.between));
}

std::string example_of(std::string_view line) {
  std::string shown;
  for (const char letter : line.substr(0, longest_example)) {
    if (is_shown_as_it_is(letter)) {
      shown += letter;
    } else {
      // Progress bars are drawn with these characters.
      shown += shown.ends_with('~') ? "" : "~";
    }
  }
  return line.size() > longest_example ? shown + " ..." : shown;
}

// The lines that an expression matches.
std::vector<std::size_t> matches_of(const std::string& expression, const Lines& lines) {
  re2::RE2::Options options{re2::RE2::Latin1};
  options.set_log_errors(false);
  const re2::RE2 compiled{expression, options};
  std::vector<std::size_t> matched;
  for (std::size_t index = 0; compiled.ok() && index < lines.size(); ++index) {
    if (re2::RE2::PartialMatch(lines[index], compiled)) {
      matched.push_back(index);
    }
  }
  return matched;
}

ProposedExpression proposed(const std::string& text, const Lines& lines) {
  const std::vector<std::size_t> matched = matches_of(text, lines);
  ProposedExpression expression{.text = text, .lines = matched.size(), .examples = {}};
  if (!matched.empty()) {
    expression.examples.push_back(example_of(lines[matched.front()]));
  }
  if (matched.size() > 1) {
    expression.examples.push_back(example_of(lines[matched.back()]));
  }
  return expression;
}

// The shortest expression that matches the series and nothing else; where there is none, the nearest one.
std::string expression_of(const NumberSeries& series, std::string_view group, const Lines& lines) {
  const std::string label = label_of(series) + std::string{group};
  std::vector<std::string> candidates{label};
  if (!series.name.empty()) {
    candidates.push_back(R"(\b)" + label);
  }
  if (!series.lead.empty()) {
    candidates.push_back("^" + with_blanks(series.lead) + label);
  }
  if (!series.opening.empty()) {
    const bool at_the_beginning = lines[series.lines.front()].starts_with(series.opening);
    candidates.push_back((at_the_beginning ? "^" : "") + escaped(series.opening) + ".*" +
                         (series.name.empty() ? "" : R"(\b)") + label);
  }
  std::vector<std::size_t> wanted = series.lines;
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  std::string best = label;
  std::size_t least = lines.size() + 1;
  for (const std::string& candidate : candidates) {
    const std::vector<std::size_t> matched = matches_of(candidate, lines);
    std::vector<std::size_t> other;
    std::ranges::set_symmetric_difference(wanted, matched, std::back_inserter(other));
    if (other.size() < least) {
      least = other.size();
      best = candidate;
    }
  }
  return best;
}

std::uint64_t count_of(const PatternTexts& texts, const Lines& lines) {
  ProgressPatterns patterns{texts};
  std::uint64_t count = 0;
  for (const std::string& line : lines) {
    for (const trial::Progress& progress : patterns.read(line)) {
      if (const auto* const steps = std::get_if<trial::StepsDone>(&progress)) {
        count += steps->count;
      } else if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
        count += epochs->count;
      }
    }
  }
  return count;
}

// How likely it is that the user wants this number to reach a target; empty for a number that is no metric.
std::optional<int> metric_rank(const NumberSeries& series, std::uint64_t epochs) {
  const std::vector<std::string> parts = parts_of(series.name);
  const bool higher = any_of(parts, better_higher);
  if ((!higher && !any_of(parts, better_lower)) || is_epoch(series)) {
    return std::nullopt;
  }
  const auto says = [&](const auto& words) {
    return any_of(parts, words) || is_one_of(series.qualifier, words) || is_one_of(series.opening, words);
  };
  const bool accuracy = any_of(parts, std::array<std::string_view, 2>{"acc", "accuracy"});
  const int kind = accuracy ? 3 : (higher ? 2 : 1);
  const int best_so_far = any_of(parts, std::array<std::string_view, 1>{"best"}) ? 5 : 0;
  const int once_an_epoch = series.lines.size() == epochs ? 11 : 0;
  return kind + (says(validating) ? 20 : (says(training_words) ? 0 : 10)) + once_an_epoch - best_so_far;
}

// How many epochs there are, by their printed numbers.
std::uint64_t numbered_epochs(const std::vector<NumberSeries>& all) {
  std::set<double> numbers;
  for (const NumberSeries& series : all) {
    if (is_epoch(series)) {
      std::ranges::copy_if(series.values, std::inserter(numbers, numbers.end()),
                           [](double value) { return value == std::floor(value); });
    }
  }
  return numbers.size();
}

std::optional<ProposedMetric> propose_metric(const std::vector<NumberSeries>& all, std::uint64_t epochs,
                                             const Lines& lines) {
  const NumberSeries* best = nullptr;
  int rank = 0;
  for (const NumberSeries& series : all) {
    const std::optional<int> here = metric_rank(series, epochs);
    // Of two with the same name, the one that is printed more rarely: once an epoch rather than once a step.
    if (here && (best == nullptr || *here > rank || (*here == rank && series.lines.size() < best->lines.size()))) {
      best = &series;
      rank = *here;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  ProposedMetric metric{.name = (qualifies(*best) ? best->qualifier + " " : "") + best->name,
                        .expression = proposed(expression_of(*best, "([-+.0-9e]+|nan|inf)", lines), lines),
                        .higher_is_better = any_of(parts_of(best->name), better_higher),
                        .values = {}};
  std::ranges::copy_if(best->values, std::back_inserter(metric.values),
                       [](double value) { return std::isfinite(value); });
  return metric;
}

struct Course {
  std::size_t rises = 0;
  std::size_t falls = 0;
  double distance = 1.0;  // of most neighbouring numbers
};

Course course_of(const std::vector<double>& values) {
  Course course;
  std::map<double, std::size_t> distances;
  for (std::size_t index = 1; index < values.size(); ++index) {
    const double way = values[index] - values[index - 1];
    course.rises += way > 0.0 ? 1 : 0;
    course.falls += way < 0.0 ? 1 : 0;
    if (way > 0.0) {
      ++distances[way];
    }
  }
  if (!distances.empty()) {
    course.distance = std::ranges::max_element(distances, {}, [](const auto& one) { return one.second; })->first;
  }
  return course;
}

bool counts_steps(const NumberSeries& series) {
  if (!series.whole || is_epoch(series) || series.lines.size() < 3) {
    return false;
  }
  const Course course = course_of(series.values);
  return (series.of_all || is_one_of(series.name, stepping)) && course.rises > course.falls && course.rises > 1;
}

std::optional<ProposedSteps> propose_steps(const std::vector<NumberSeries>& all, const Lines& lines) {
  const NumberSeries* best = nullptr;
  for (const NumberSeries& series : all) {
    if (counts_steps(series) && (best == nullptr || series.lines.size() > best->lines.size())) {
      best = &series;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  const std::string text = expression_of(*best, best->of_all ? R"((\d+)/\d+)" : R"((\d+))", lines);
  const Course course = course_of(best->values);
  const auto [least, most] = std::ranges::minmax(best->values);
  return ProposedSteps{.expression = proposed(text, lines),
                       .count = count_of({.metric = {}, .epoch = {}, .step = text}, lines),
                       .first = least,
                       .last = most,
                       .distance = course.distance,
                       .over_all = course.falls == 0};
}

// Whether the expression matches after the steps of the first epoch, so at an epoch's end and not at its beginning.
bool ends_epochs(const std::string& expression, const std::optional<ProposedSteps>& steps, const Lines& lines) {
  if (!steps) {
    return true;
  }
  const std::vector<std::size_t> ends = matches_of(expression, lines);
  const std::vector<std::size_t> done = matches_of(steps->expression.text, lines);
  return !ends.empty() && !done.empty() && done.front() < ends.front();
}

// Expressions that may match once an epoch, from a series that numbers epochs. A bar ends when it is full.
std::vector<std::string> epoch_expressions(const NumberSeries& series, const Lines& lines) {
  const std::string plain = expression_of(series, R"((\d+))", lines);
  return {plain + ".*100%", plain};
}

std::optional<ProposedEpochs> propose_epochs(const std::vector<NumberSeries>& all,
                                             const std::optional<ProposedMetric>& metric,
                                             const std::optional<ProposedSteps>& steps, std::uint64_t wanted,
                                             const Lines& lines) {
  const std::uint64_t values = metric ? metric->expression.lines : 0;
  if (metric && (values == wanted || wanted == 0)) {
    return ProposedEpochs{.expression = {}, .count = values};
  }
  std::optional<ProposedEpochs> fallback;
  for (const NumberSeries& series : all) {
    if (!is_epoch(series) || !series.whole) {
      continue;
    }
    for (const std::string& text : epoch_expressions(series, lines)) {
      const ProposedEpochs epochs{.expression = proposed(text, lines),
                                  .count = count_of({.metric = {}, .epoch = text, .step = {}}, lines)};
      if (epochs.count == wanted && ends_epochs(text, steps, lines)) {
        return epochs;
      }
      if (epochs.count == wanted && !fallback) {
        fallback = epochs;
      }
    }
  }
  if (!fallback && metric) {
    return ProposedEpochs{.expression = {}, .count = values};
  }
  return fallback;
}

}  // namespace

void OutputStudy::keep(std::string_view line) {
  if (lines_.size() < most_lines && bytes_ < most_bytes) {
    bytes_ += line.size();
    lines_.emplace_back(line);
  }
}

void OutputStudy::hear(std::size_t stream, std::string_view bytes) {
  splitters_.at(stream).feed(bytes, [this](std::string_view line) { keep(line); });
}

void OutputStudy::finish() {
  for (LineSplitter& splitter : splitters_) {
    splitter.finish([this](std::string_view line) { keep(line); });
  }
}

Proposal OutputStudy::propose() const {
  const std::vector<NumberSeries> all = number_series(lines_);
  const std::uint64_t epochs = numbered_epochs(all);
  Proposal proposal{.lines = lines_.size(), .metric = propose_metric(all, epochs, lines_), .epochs = {}, .steps = {}};
  proposal.steps = propose_steps(all, lines_);
  proposal.epochs = propose_epochs(all, proposal.metric, proposal.steps, epochs, lines_);
  return proposal;
}

}  // namespace zeus::run
