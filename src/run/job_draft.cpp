#include "run/job_draft.hpp"

#include "base/amount_text.hpp"
#include "run/run_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

namespace zeus::run {

namespace {

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The string in TOML's double quotes.
std::string basic_string(std::string_view text) {
  std::string result{'"'};
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned char>(letter));
    } else {
      result += letter;
    }
  }
  return result + '"';
}

// The string in TOML's single quotes, where backslashes stay as they are.
std::string literal(const std::string& text) {
  if (text.find('\'') == std::string::npos) {
    return "'" + text + "'";
  }
  return text.find("'''") == std::string::npos && !text.ends_with('\'') ? "'''" + text + "'''" : basic_string(text);
}

std::string list(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  all.reserve(words.size());
  for (const std::string& word : words) {
    all.push_back(basic_string(word));
  }
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string examples(const ProposedExpression& expression) {
  std::string text;
  for (const std::string& line : expression.examples) {
    text += fmt::format("#   {}\n", line);
  }
  return text;
}

std::string matched(const ProposedExpression& expression) {
  return fmt::format("It matches {}:", counted(expression.lines, "line"));
}

std::string unit_of(const ProposedSteps& steps) {
  const std::string numbers = fmt::format("numbered from {:.6g} to {:.6g}", steps.first, steps.last);
  const std::string every = steps.distance > 1.0 ? fmt::format(", mostly {:.6g} apart", steps.distance) : std::string{};
  return fmt::format("{}{}, {}", numbers, every, steps.over_all ? "counting on over epochs" : "again in each epoch");
}

// The best value of the first two thirds of the run: the next runs will reach it as well, and before their end.
double proposed_target(const ProposedMetric& metric) {
  const auto part = metric.values.begin() + static_cast<std::ptrdiff_t>((metric.values.size() * 2 + 2) / 3);
  return metric.higher_is_better ? *std::max_element(metric.values.begin(), part)
                                 : *std::min_element(metric.values.begin(), part);
}

double best_of(const ProposedMetric& metric) {
  return metric.higher_is_better ? std::ranges::max(metric.values) : std::ranges::min(metric.values);
}

std::string metric_part(const WatchedRun& run) {
  if (!run.proposal.metric) {
    return "# No metric was found in what the command printed. Where it prints one, say how:\n"
           "# metric_regex = 'accuracy: ([0-9.]+)'\n\n";
  }
  const ProposedMetric& metric = *run.proposal.metric;
  std::string text =
      fmt::format("# The metric, {}. {}\n{}", metric.name, matched(metric.expression), examples(metric.expression));
  text += fmt::format("metric_regex = {}\n", literal(metric.expression.text));
  return text + fmt::format("higher_is_better = {}    # false where it has to fall, as a loss has\n\n",
                            metric.higher_is_better);
}

std::string epochs_part(const WatchedRun& run) {
  if (!run.proposal.epochs) {
    return "# No epochs were found: the whole run counts as one. Where they are printed, say how:\n"
           "# epoch_regex = 'epoch (\\d+) done'\n\n";
  }
  const ProposedEpochs& epochs = *run.proposal.epochs;
  if (!epochs.expression) {
    return fmt::format(
        "# Epochs: each value of the metric ends one, {} in this run. If not, say what does:\n"
        "# epoch_regex = 'epoch (\\d+) done'\n\n",
        epochs.count);
  }
  return fmt::format("# Epochs, {} in this run. {}\n{}epoch_regex = {}\n\n", epochs.count, matched(*epochs.expression),
                     examples(*epochs.expression), literal(epochs.expression->text));
}

std::string steps_part(const WatchedRun& run) {
  if (!run.proposal.steps) {
    return "# No steps were found: power limits can be compared by whole epochs only, which takes longer. Where steps\n"
           "# are printed, say how:\n# step_regex = 'step (\\d+)'\n\n";
  }
  const ProposedSteps& steps = *run.proposal.steps;
  return fmt::format("# Steps, by which power limits are compared: {}. {}\n{}step_regex = {}\n\n", unit_of(steps),
                     matched(steps.expression), examples(steps.expression), literal(steps.expression.text));
}

std::string command_line(const std::vector<std::string>& command) {
  return fmt::format("command = {}", list(command));
}

std::string batch_size_part(const WatchedRun& run, Suggestions suggestions) {
  const std::optional<BatchSizePlace> place = batch_size_place(run.command);
  const bool accepted = suggestions == Suggestions::accepted;
  const std::string_view mark = accepted ? "" : "# ";
  std::string text;
  if (accepted) {
    text =
        "# The batch sizes to choose from, and the value of the metric that a run has to reach, as `zeus init` "
        "suggests them:\n";
  } else {
    text =
        "# So far, only the power limit is chosen. To have the batch size chosen as well, say where the command takes\n"
        "# it, and which value of the metric a run has to reach; then uncomment these:\n";
    text += fmt::format("# {}    # instead of the one above\n",
                        place ? command_line(place->words) : std::string{"command = [..., \"{batch_size}\"]"});
  }
  if (place) {
    std::set<int> sizes;
    for (const int factor : {1, 2, 4}) {
      sizes.insert({std::max(place->batch_size / factor, 1), place->batch_size * factor});
    }
    text += fmt::format("{0}batch_sizes = [{1}]\n{0}default_batch_size = {2}    # what you use without Zeus\n", mark,
                        fmt::join(sizes, ", "), place->batch_size);
  } else {
    text += "# batch_sizes = [16, 32, 64]\n# default_batch_size = 32    # what you use without Zeus\n";
  }
  if (run.proposal.metric && !run.proposal.metric->values.empty()) {
    text += fmt::format("{}target_metric = {:.4g}    # this run came to {:.6g}\n", mark,
                        proposed_target(*run.proposal.metric), best_of(*run.proposal.metric));
  } else {
    text += "# target_metric = 0.9\n";
  }
  if (run.proposal.epochs) {
    text += fmt::format("{}max_epochs = {}    # a try that is short of the target by then has failed\n", mark,
                        2 * std::max<std::uint64_t>(run.proposal.epochs->count, 1));
  }
  return text;
}

}  // namespace

std::optional<BatchSizePlace> batch_size_place(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 9> flags{"--batch-size",
                                                  "--batch_size",
                                                  "--batchsize",
                                                  "--bs",
                                                  "-b",
                                                  "-bs",
                                                  "--train-batch-size",
                                                  "--train_batch_size",
                                                  "--per_device_train_batch_size"};
  const auto number = [](std::string_view text) -> std::optional<int> {
    int value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr int most = 1 << 24;
    return error == std::errc{} && rest == text.data() + text.size() && value > 0 && value < most ? std::optional{value}
                                                                                                  : std::nullopt;
  };
  for (std::size_t index = 0; index < command.size(); ++index) {
    const std::string_view word = command[index];
    const std::size_t sign = std::min(word.find('='), word.size());
    if (std::ranges::find(flags, word.substr(0, sign)) == flags.end()) {
      continue;
    }
    BatchSizePlace place{.words = command};
    if (sign < word.size()) {
      if (const std::optional<int> size = number(word.substr(sign + 1))) {
        place.batch_size = *size;
        place.words[index] = fmt::format("{}={{batch_size}}", word.substr(0, sign));
        return place;
      }
    } else if (index + 1 < command.size()) {
      if (const std::optional<int> size = number(command[index + 1])) {
        place.batch_size = *size;
        place.words[index + 1] = "{batch_size}";
        return place;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> why_nothing_to_accept(const WatchedRun& run) {
  if (!batch_size_place(run.command)) {
    return "the command does not say where it takes its batch size, as in `train.py --batch-size 64`";
  }
  if (!run.proposal.metric || run.proposal.metric->values.empty()) {
    return "no metric was found in what the command printed, so there is no target";
  }
  return std::nullopt;
}

std::string job_draft(const WatchedRun& run, Suggestions suggestions) {
  const std::optional<BatchSizePlace> place =
      suggestions == Suggestions::accepted ? batch_size_place(run.command) : std::nullopt;
  std::string text = fmt::format(
      "# A job of Zeus, drafted by `zeus init` from one run of {} and {}. `zeus run @{}` runs "
      "it.\n# Every flag of `zeus run --help` is also a key here.\n\n",
      counted(run.proposal.lines, "line"), to_text(run.time), run.name);
  text += fmt::format("# The command. Placeholders such as {{seed}} are replaced in each run.\n{}\n\n",
                      command_line(place ? place->words : run.command));
  if (run.reports) {
    text += "# The command reports its progress by itself: no expressions are needed.\n\n";
  } else {
    text += metric_part(run) + epochs_part(run) + steps_part(run);
  }
  return text + batch_size_part(run, suggestions);
}

std::string draft_summary(const WatchedRun& run) {
  const Proposal& seen = run.proposal;
  const auto shown = [](const ProposedExpression& expression) {
    std::string text = fmt::format("             {}\n", expression.text);
    for (const std::string& line : expression.examples) {
      text += fmt::format("             | {}\n", line);
    }
    return text;
  };
  if (run.reports) {
    return "  progress   the command reports it by itself\n";
  }
  std::string text;
  if (seen.metric) {
    const ProposedMetric& metric = *seen.metric;
    text += fmt::format("  metric     {}, {} is better: {}", metric.name, metric.higher_is_better ? "higher" : "lower",
                        counted(metric.expression.lines, "value"));
    text += metric.values.empty()
                ? "\n"
                : fmt::format(", from {:.6g} to {:.6g}\n", metric.values.front(), metric.values.back());
    text += shown(metric.expression);
  } else {
    text += "  metric     none was found\n";
  }
  if (!seen.epochs) {
    text += "  epochs     none were found\n";
  } else if (!seen.epochs->expression) {
    text += fmt::format("  epochs     {}: each value of the metric ends one\n", seen.epochs->count);
  } else {
    text += fmt::format("  epochs     {}\n", seen.epochs->count) + shown(*seen.epochs->expression);
  }
  if (seen.steps) {
    text +=
        fmt::format("  steps      {}, {}\n", seen.steps->count, unit_of(*seen.steps)) + shown(seen.steps->expression);
  } else {
    text += "  steps      none were found\n";
  }
  return text;
}

}  // namespace zeus::run
