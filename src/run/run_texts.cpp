#include "run/run_texts.hpp"

#include "base/amount_text.hpp"
#include "run/command_template.hpp"
#include "run/limit_change.hpp"
#include "train/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

namespace zeus::run {

namespace {

// Smaller savings and losses are neither.
constexpr double worth_saying = 0.01;
// The target is questioned if the metric is better than it by this part of the target.
constexpr double by_far = 0.5;
// A smaller part of a run after its target is not worth a line.
constexpr double worth_stopping = 0.05;

// With the half-width of its 95 % interval, both in percent.
std::string share(double saved, double half_width, std::string_view what) {
  return fmt::format("{:.0f} ± {:.0f} % {} {}", std::abs(saved) * 100, std::ceil(half_width * 100),
                     saved >= 0 ? "less" : "more", what);
}

std::string batch(int batch_size, bool has_batch_sizes) {
  return has_batch_sizes ? fmt::format("batch size {}", batch_size) : std::string{"the command"};
}

std::string limits_text(const std::vector<Watts>& limits) {
  const auto [low, high] = std::ranges::minmax_element(limits);
  return limits.size() == 1
             ? fmt::format("{:.6g} W", low->value())
             : fmt::format("{} power limits from {:.6g} W to {:.6g} W", limits.size(), low->value(), high->value());
}

const records::TryView* reached_try(const records::JobView& job, std::uint64_t recurrence) {
  for (const records::TryView& one : job.tries) {
    if (one.recurrence == recurrence && one.outcome && records::reached(*one.outcome)) {
      return &one;
    }
  }
  return nullptr;
}

std::string plural(int count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string change_text(const optimize::StepChange& step) {
  return fmt::format("{} and {}", share(-step.energy.value, step.energy.half_width, "energy"),
                     share(-step.time.value, step.time.half_width, "time"));
}

// What the bound of --max-slowdown leaves unused.
std::string next_lower_text(const std::optional<OtherLimit>& lower, std::string_view what) {
  return lower ? fmt::format("; at {:.6g} W, the next lower limit, {} would take {}", lower->setting.limit.value(),
                             what, change_text(lower->step))
               : "; no lower limit was compared";
}

std::string next_lower_text(const records::JobView& job, const records::TryView* reached) {
  if (!job.definition.max_slowdown || reached == nullptr || !reached->limit) {
    return "";
  }
  const auto arm = std::ranges::find(job.arms, reached->batch_size, &records::ArmView::batch_size);
  if (arm == job.arms.end()) {
    return "";
  }
  const std::optional<OtherLimit> lower = next_lower_limit(arm->limits, *reached->limit);
  return next_lower_text(lower, "an epoch") + (lower ? fmt::format(" than at {:.6g} W", lower->against.value()) : "");
}

std::string comparing_text(const TrainingResult& result) {
  return fmt::format("; comparing limits took {} of it", to_text(result.profiling_time));
}

std::string regained_text(const LimitChange& change) {
  const ComparingCost& took = change.comparing;
  const std::string kept = fmt::format("{:.6g} W", change.setting.limit.value());
  if (took.energy + took.half_width <= Joules{}) {
    return fmt::format(" and no more energy than {} takes", kept);
  }
  const std::string extra =
      took.energy > Joules{}
          ? fmt::format(" and {} more than {} takes", to_text(took.energy), kept)
          : fmt::format(" and at most {} more than {} takes", to_text(took.energy + took.half_width), kept);
  if (!change.regained) {
    return extra + (change.step.energy.is_known() && change.step.energy.value > 0.0
                        ? ", which is not regained"
                        : "; whether that is regained cannot be told");
  }
  if (change.regained->most <= 1.0) {
    return extra + ", regained within this run";
  }
  const double least = std::max(1.0, std::ceil(change.regained->least));
  const double most = std::ceil(change.regained->most);
  return extra + (least == most ? fmt::format(", regained after {:.0f} such runs", most)
                                : fmt::format(", regained after {:.0f} to {:.0f} such runs", least, most));
}

// What the best setting would have changed for a step, as far as that can be told from chance.
std::string observed_text(const TrainingResult& result) {
  if (kept_highest(result)) {
    return ", the highest of those compared: nothing would be saved";
  }
  const std::optional<LimitChange> change = limit_change(result);
  if (!change) {
    return "";
  }
  const std::string step = change_text(change->step);
  return change->step.energy.is_known() || change->step.time.is_known()
             ? fmt::format(", where a step takes {} than at {:.6g} W", step, change->highest.value())
             : fmt::format("; no saving against {:.6g} W could be told from chance ({})", change->highest.value(),
                           step);
}

}  // namespace

std::string profiling_text(const records::ProfileAsked& asked, bool has_batch_sizes) {
  return fmt::format("measuring {} at {}: {}", batch(asked.batch_size, has_batch_sizes), limits_text(asked.limits),
                     asked.why);
}

std::string try_text(const records::TryStarted& started, bool has_batch_sizes, bool sets_limits) {
  const records::TryPlan& plan = started.event.plan;
  const std::string limit = plan.limit ? fmt::format(" at {:.6g} W", plan.limit->value())
                                       : std::string{sets_limits ? ", measuring its power limits" : ""};
  return fmt::format("try {}: {}{}: {}", started.event.try_number + 1, batch(plan.batch_size, has_batch_sizes), limit,
                     started.why);
}

std::string miss_text(const Miss& miss) {
  const std::string what = (miss.batch_size ? fmt::format("batch size {}", *miss.batch_size) : "the command") + " ";
  const std::string took = fmt::format("after {} and {}", plural(miss.epochs, "epoch"),
                                       miss.energy ? to_text(*miss.energy) : "an unknown energy");
  const std::string short_of_target = fmt::format("is short of the target {}{}", took,
                                                  miss.metric ? fmt::format(" ({:.6g})", *miss.metric) : std::string{});
  switch (miss.outcome) {
    case records::TryOutcome::stopped:
      return what +
             (miss.epochs_used_up
                  ? short_of_target
                  : fmt::format("was stopped {}: the next epoch would exceed its budget; starting another try", took));
    case records::TryOutcome::exhausted:
      return what + (miss.exit_code.value_or(0) != 0
                         ? fmt::format("failed with exit code {}, where others have worked; trying another one",
                                       *miss.exit_code)
                         : short_of_target);
    case records::TryOutcome::lost:
    case records::TryOutcome::reached:
      break;
  }
  const int exit_code = miss.exit_code.value_or(0);
  const std::string how = exit_code == 0 && !miss.metric ? "ended without reporting a metric"
                                                         : fmt::format("ended with exit code {}", exit_code);
  return what + fmt::format("{} {}: nothing was learned from it", how, took);
}

std::string give_up_text(const RunOptions& options, const records::FailedTries& failed,
                         const std::optional<Closest>& closest) {
  if (!failed.never_reached) {
    return fmt::format("{} tries have missed the target, and no more are made: see `zeus jobs {}`", failed.tries,
                       options.job);
  }
  std::string text = "the target was missed";
  if (options.target) {
    text = fmt::format("the target of {:.6g} was missed", options.target->metric);
  }
  const bool sizes = !options.batch_sizes.empty();
  text += fmt::format("{}, and has never been reached: ", sizes ? " at every batch size that was tried" : "");
  text += closest ? fmt::format("the closest was {:.6g}{}", closest->metric,
                                sizes ? fmt::format(", at batch size {}", closest->batch_size) : std::string{})
                  : std::string{"no metric was seen"};
  return text + fmt::format(
                    "; set an easier target (target_metric) or allow more epochs (max_epochs) with `zeus jobs {} "
                    "redefine`",
                    options.job);
}

std::optional<std::string> after_target_text(Seconds until, const jobs::Try::Taken& after) {
  if (after.time < worth_stopping * (until + after.time)) {
    return std::nullopt;
  }
  const std::string energy =
      after.unknown.empty() ? fmt::format(" and took {} more", to_text(after.energy())) : std::string{};
  return fmt::format("after its target the command went on for {}{}, not counted here; --stop-at-target ends it there",
                     to_text(after.time), energy);
}

std::optional<std::string> unmeasured_text(const Unmeasured& training) {
  const bool several = training.limits > 1;
  const std::string what = several ? fmt::format("not all of {} power limits were compared", training.limits)
                                   : std::string{"what an epoch takes was not measured"};
  if (training.steps) {
    return fmt::format("{}: the training was over in {}; the next one goes on{}", what, to_text(training.time),
                       several ? ", and --power-limits W,W measures fewer" : "");
  }
  if (training.lines) {
    return fmt::format("{}, since no steps were seen: if lines like '{}' count steps, give --step-regex '{}'", what,
                       training.lines->examples.front(), training.lines->text);
  }
  if (training.epochs == 0) {
    return std::nullopt;
  }
  return fmt::format(
      "{}: no steps were seen, and {} is too few; print a line for each step, and match it with "
      "--step-regex",
      what, plural(training.epochs, "epoch"));
}

std::string energy_text(Joules energy, const std::optional<Joules>& half_width, const records::EnergyRates& rates) {
  const std::string amounts = records::to_text(rates, energy, half_width);
  return to_text(energy) + (amounts.empty() ? "" : fmt::format(" ({})", amounts));
}

std::string taken_text(const jobs::Try::Taken& taken, const records::EnergyRates& rates) {
  const std::optional<Energy> energy = taken.sum();
  return energy ? fmt::format("{} in {}", energy_text(energy->value, energy->uncertainty, rates), to_text(taken.time))
                : fmt::format("an unknown energy in {}; {}", to_text(taken.time), taken.unknown);
}

std::string ended_text(int exit_code, const std::string& account) {
  return exit_code == 0 ? account : fmt::format("the command ended with exit code {} after {}", exit_code, account);
}

std::string recurrence_text(const records::JobView& job, const records::RecurrenceView& recurrence,
                            const records::EnergyRates& rates) {
  const records::TryView* const reached = reached_try(job, recurrence.number);
  std::string text = fmt::format("{} #{}: ", job.name, recurrence.number);
  if (reached != nullptr) {
    const bool sizes = !job.definition.batch_sizes.empty();
    text += sizes ? fmt::format("batch size {}", reached->batch_size) : std::string{"done"};
    text += reached->limit ? fmt::format(" at {:.6g} W in the end", reached->limit->value()) : std::string{};
    text += sizes ? fmt::format(", {}", plural(reached->epochs, "epoch")) : std::string{};
    text += recurrence.tries > 1 ? fmt::format(" ({} tries)", recurrence.tries) : std::string{};
    text += ": ";
  }
  if (!recurrence.energy || !recurrence.uncertainty) {
    return text + fmt::format("an unknown energy in {}; {}", to_text(recurrence.time), recurrence.energy_unknown);
  }
  text +=
      fmt::format("{} in {}", energy_text(*recurrence.energy, recurrence.uncertainty, rates), to_text(recurrence.time));
  if (recurrence.state == records::RecurrenceState::given_up) {
    return text + fmt::format("; the saving is unknown: {}", recurrence.reason);
  }
  // Limits that could not be set, and the like.
  if (reached != nullptr && reached->left_out) {
    return text + fmt::format("; nothing is learned from it: {}", *reached->left_out);
  }
  const std::string lower = next_lower_text(job, reached);
  const bool by_default = reached != nullptr && reached->batch_size == job.definition.default_batch_size &&
                          reached->limit == job.device.power_limits.back();
  if (by_default && recurrence.tries == 1) {
    return text + "; that is the default, so nothing was saved" + lower;
  }
  if (!recurrence.default_energy || !recurrence.default_time || !recurrence.default_energy_uncertainty ||
      !recurrence.default_time_uncertainty) {
    return text + fmt::format("; the saving is unknown: {}", recurrence.default_unknown) + lower;
  }
  const double energy = 1.0 - *recurrence.energy / *recurrence.default_energy;
  const double time = 1.0 - recurrence.time / *recurrence.default_time;
  const double energy_half =
      std::hypot(recurrence.default_energy_uncertainty->value(), recurrence.uncertainty->value()) /
      recurrence.default_energy->value();
  const double time_half = *recurrence.default_time_uncertainty / *recurrence.default_time;
  text += fmt::format("; the default takes about {} in {}: ", to_text(*recurrence.default_energy),
                      to_text(*recurrence.default_time));
  if (std::abs(energy) < std::max(worth_saying, energy_half) && std::abs(time) < std::max(worth_saying, time_half)) {
    return text +
           fmt::format("no saving could be told from chance (energy ± {:.0f} %)",
                       std::ceil(100 * std::max(energy_half, worth_saying))) +
           lower;
  }
  return text + fmt::format("{}, {}", share(energy, energy_half, "energy"), share(time, time_half, "time")) + lower;
}

bool has_saved(const records::RecurrenceView& recurrence) {
  return recurrence.energy && recurrence.uncertainty && recurrence.default_energy &&
         recurrence.default_energy_uncertainty &&
         (*recurrence.default_energy - *recurrence.energy).value() >
             std::hypot(recurrence.default_energy_uncertainty->value(), recurrence.uncertainty->value());
}

TrainingResult of_the_command(TrainingResult result, const jobs::Try::Taken& taken) {
  const std::optional<Energy> all = taken.sum();
  if (result.prediction) {
    // A limit changes the steps alone.
    result.prediction->time += taken.time - result.time;
    result.prediction->energy.value += all && result.energy ? all->value - result.energy->value : Joules{};
  }
  result.time = taken.time;
  result.energy = all;
  return result;
}

std::string alone_text(const TrainingResult& result, bool slowdown_is_bounded, const records::EnergyRates& rates) {
  const std::string again = result.applied && !result.unoptimized.empty() ? "; " + result.unoptimized : "";
  std::string text = fmt::format(
      "{} in {}",
      result.energy ? energy_text(result.energy->value, result.energy->uncertainty, rates) : "an unknown energy",
      to_text(result.time));
  if (result.prediction) {
    const TrainingPrediction& would = *result.prediction;
    return text + fmt::format("; at {:.6g} W it would have been {} in {}{}", would.setting.limit.value(),
                              to_text(would.energy.value), to_text(would.time), observed_text(result));
  }
  if (!result.optimum || !result.applied) {
    const std::string& why = result.no_prediction.empty() ? result.unoptimized : result.no_prediction;
    text += why.empty() ? "; no power limit was chosen: it ended before they could be compared"
                        : fmt::format("; {}: {}",
                                      why.starts_with(train::ended_while_profiled_again) ? "what was saved is unknown"
                                                                                         : "nothing was saved",
                                      why);
    return text + (why == train::ended_while_profiling ? "; --profile-seconds measures each limit for less time" : "");
  }
  text += fmt::format(" at {:.6g} W", result.optimum->limit.value());
  text += result.optimum->clock ? fmt::format(" and {:.6g} MHz", result.optimum->clock->value()) : "";
  const bool has_lower = slowdown_is_bounded && !result.optimum->clock;
  const std::string lower = has_lower ? next_lower_text(next_lower_limit(result), "it") : "";
  if (kept_highest(result)) {
    return text + ", the highest of those compared: nothing was saved" + lower + comparing_text(result) + again;
  }
  const std::optional<LimitChange> change = limit_change(result);
  if (!change) {
    return text + "; what that saves is unknown, because no energy was measured under the highest limit" + again;
  }
  const auto& [time, energy] = change->step;
  if (!energy.is_known() && !time.is_known()) {
    text += fmt::format("; no saving against {:.6g} W could be told from chance ({})", change->highest.value(),
                        change_text(change->step));
  } else {
    text +=
        fmt::format(": compared with {:.6g} W, a step takes {}", change->highest.value(), change_text(change->step));
  }
  return text + lower + comparing_text(result) + regained_text(*change) + again;
}

std::string limits_lost_text(const LimitsLost& lost) {
  const std::string when = lost.until ? fmt::format("between {} and {}", to_text(lost.from), to_text(*lost.until))
                                      : fmt::format("from {} on", to_text(lost.from));
  return fmt::format("{} it ran without a power limit of its own: {}", when, lost.why);
}

std::optional<std::string> batch_size_question(const RunOptions& options) {
  if (options.batch_sizes.size() < 2 || CommandTemplate{options.command}.asks_for("batch_size")) {
    return std::nullopt;
  }
  return "there is no {batch_size} in the command: does it read ZEUS_BATCH_SIZE? If not, the training is the same "
         "at every batch size";
}

std::optional<std::string> direction_question(const records::JobTarget& target, int epochs,
                                              std::optional<double> metric) {
  const double by =
      target.higher_is_better ? metric.value_or(0.0) - target.metric : target.metric - metric.value_or(0.0);
  if (!metric || epochs > 1 || by < by_far * std::abs(target.metric)) {
    return std::nullopt;
  }
  return fmt::format(
      "the metric was {:.6g} after the first epoch, far beyond its target of {:.6g}: is it {}? If so, {}", *metric,
      target.metric, target.higher_is_better ? "a loss, which is to fall" : "a score, which is to rise",
      target.higher_is_better ? "begin a new job with --lower-is-better" : "begin a new job without --lower-is-better");
}

std::vector<std::string> silence_text(const RunOptions& options, const WatchedCommand::Seen& seen) {
  const PatternTexts& patterns = options.patterns;
  std::vector<std::string> texts;
  const std::uint64_t lines = seen.output.lines + seen.error.lines;
  const std::string lines_text = lines == 1 ? "the 1 line" : fmt::format("{} lines", lines);
  const auto complain = [&](const char* flag, const std::string& pattern, std::uint64_t matches, const char* what) {
    if (!pattern.empty() && matches == 0 && seen.reports == 0) {
      texts.push_back(lines == 0
                          ? fmt::format("the command printed no line that {} could match, so {}", flag, what)
                          : fmt::format("{} '{}' matched none of {} of the command, so {}; try it with `grep -P` on "
                                        "the command's output",
                                        flag, pattern, lines_text, what));
    }
  };
  const std::string& odd = seen.output.not_a_number.empty() ? seen.error.not_a_number : seen.output.not_a_number;
  if (!odd.empty()) {
    texts.push_back(
        fmt::format("the group of --metric-regex matched '{}', which is not a number; put the brackets around the "
                    "number alone",
                    odd));
  } else if (options.target && patterns.metric.empty() && !seen.metric_reported) {
    texts.emplace_back(
        "the command has reported no metric, so its target cannot be checked; say how the metric is printed, "
        "as in --metric-regex 'accuracy: ([0-9.]+)'");
  } else if (options.target) {
    complain("--metric-regex", patterns.metric, seen.output.metric + seen.error.metric, "its target cannot be checked");
  }
  if (options.usual_steps && patterns.metric.empty() && patterns.epoch.empty()) {
    if (seen.output.step + seen.error.step + seen.reports + seen.strange_reports == 0) {
      texts.push_back(lines == 0
                          ? std::string{"the command printed nothing, and without signs of progress power limits "
                                        "cannot be compared; let it print a line for each step or epoch"}
                          : fmt::format("none of {} of the command looks like progress, without which power "
                                        "limits cannot be compared; name those that are with --step-regex or "
                                        "--epoch-regex",
                                        lines_text));
    }
  } else {
    complain("--epoch-regex", patterns.epoch, seen.output.epoch + seen.error.epoch, "no epochs were counted");
    if (!options.usual_steps) {
      complain("--step-regex", patterns.step, seen.output.step + seen.error.step, "no steps were counted");
    }
  }
  if (seen.cut_lines) {
    texts.push_back(fmt::format("the command printed a line longer than {} bytes: only its beginning was read",
                                LineSplitter::longest_line));
  }
  if (seen.strange_reports > 0) {
    texts.push_back(fmt::format("{} lines written to $ZEUS_PROGRESS are not one of `step`, `epoch` and `metric`",
                                seen.strange_reports));
  }
  if (seen.lost.bytes > 0) {
    texts.push_back(fmt::format("{} bytes of the command's output could not be written: {}", seen.lost.bytes,
                                std::generic_category().message(seen.lost.error)));
  }
  return texts;
}

}  // namespace zeus::run
