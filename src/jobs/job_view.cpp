#include "jobs/job_view.hpp"

#include "jobs/default_runs.hpp"
#include "jobs/explanation.hpp"
#include "jobs/job_state.hpp"
#include "jobs/redefinition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace zeus::jobs {

using records::RecurrenceState;
using records::RecurrenceView;
using records::TryView;

namespace {

constexpr std::size_t last_recurrences = 5;
// Of a recurrence's energy, the least that its interval leaves open: where a command begins and ends by itself counters
// read a little low, always the same way. Assumed.
constexpr double least_doubt = 0.003;

Joules cost_on(const records::JobDevice& device, double eta, Joules energy, Seconds time) {
  return optimize::EnergyTimeCost{eta, device.max_power}.of(energy, time);
}

std::optional<records::Energy> sum(const std::vector<records::GpuEnergy>& gpus) {
  if (gpus.empty()) {
    return std::nullopt;
  }
  records::Energy whole = gpus.front().energy;
  for (std::size_t index = 1; index < gpus.size(); ++index) {
    whole = whole + gpus[index].energy;
  }
  return whole;
}

// Walks a history once and keeps what people want to know of it.
class Walk {
 public:
  // Costs are weighed by `eta`, also those of a time when the job weighed them differently.
  Walk(const store::StoredJob& job, double eta)
      : eta_{eta}, state_{job.definition}, definition_{job.definition}, default_runs_{eta} {
    define();
  }

  void step(const records::JobEntry& entry) {
    state_.apply(entry);
    std::visit([this, &entry](const auto& body) { note(body, entry.written); }, entry.body);
    if (const auto* finished = std::get_if<records::TryFinished>(&entry.body)) {
      const records::JobDevice& device = devices_[finished->event.recurrence];
      default_runs_.learn(device, *finished, state_.limits(device, finished->event.batch_size));
      if (reached(finished->event.outcome)) {
        Against against{.recurrence = finished->event.recurrence, .parts = {}, .run = {}};
        auto parts = default_runs_.parts(device, *finished, state_.limits(device, default_size()));
        if (const std::string& unknown = recurrences_[against.recurrence].energy_unknown; !unknown.empty()) {
          recurrences_[against.recurrence].default_unknown = unknown;
        } else if (const auto* const why = std::get_if<std::string>(&parts)) {
          recurrences_[against.recurrence].default_unknown = *why;
        } else {
          against.parts = std::get<DefaultParts>(parts);
          against_.push_back(std::move(against));
        }
      }
    }
  }

  // Once all entries were seen.
  void end() { count_epochs(); }

  [[nodiscard]] const JobState& state() const { return state_; }
  std::vector<TryView>& tries() { return tries_; }
  std::vector<RecurrenceView>& recurrences() { return recurrences_; }

  // Of the last of those recurrences whose default is known, `most` at most.
  [[nodiscard]] std::optional<records::SavingsView> savings(std::size_t most) const {
    DefaultRun of_default;
    Spent took;
    Spent doubt;  // of what they took
    std::uint64_t count = 0;
    for (auto one = against_.rbegin(); one != against_.rend() && count < most; ++one) {
      if (!one->run) {
        continue;
      }
      ++count;
      const RecurrenceView& recurrence = recurrences_[one->recurrence];
      of_default = of_default + *one->run;
      took = took + spent(recurrence);
      doubt = together(doubt, half_width_of(recurrence, devices_[one->recurrence]));
    }
    if (count == 0) {
      return std::nullopt;
    }
    const Spent half_width = together(of_default.half_width(), doubt);
    return records::SavingsView{.recurrences = count,
                                .energy = of_default.value.energy - took.energy,
                                .energy_uncertainty = half_width.energy,
                                .energy_of_default = of_default.value.energy,
                                .time = of_default.value.time - took.time,
                                .time_uncertainty = half_width.time,
                                .time_of_default = of_default.value.time,
                                .cost = of_default.value.cost - took.cost,
                                .cost_uncertainty = half_width.cost,
                                .cost_of_default = of_default.value.cost};
  }

 private:
  // A recurrence that reached, against the default in its place.
  struct Against {
    std::uint64_t recurrence = 0;
    DefaultParts parts;
    std::optional<DefaultRun> run;  // once it is known how many epochs it has
  };

  [[nodiscard]] int default_size() const { return state_.job().spec().default_batch_size; }
  void define() { default_runs_.define(default_size(), state_.definition().target.has_value()); }

  // Of those recurrences that ran under the present definition.
  void count_epochs() {
    const auto known = default_runs_.epochs();
    for (; counted_ < against_.size(); ++counted_) {
      Against& against = against_[counted_];
      RecurrenceView& recurrence = recurrences_[against.recurrence];
      const bool has_epochs = against.parts.has_epochs();
      if (const auto* const why = std::get_if<std::string>(&known); has_epochs && why != nullptr) {
        recurrence.default_unknown = *why;
        continue;
      }
      const EpochCount epochs = has_epochs ? std::get<EpochCount>(known) : EpochCount{};
      if (has_epochs && epochs.unit != against.parts.unit) {
        recurrence.default_unknown = "it told of no epochs, and later ones do";
        continue;
      }
      const DefaultRun run = epochs.of(against.parts);
      if (run.value.energy - run.half_width().energy > devices_[against.recurrence].max_power * run.value.time) {
        recurrence.default_unknown =
            "the default would have drawn more than these GPUs can: what was measured cannot be";
        continue;
      }
      const Spent half_width = run.half_width();
      against.run = run;
      recurrence.default_energy = run.value.energy;
      recurrence.default_energy_uncertainty = half_width.energy;
      recurrence.default_time = run.value.time;
      recurrence.default_time_uncertainty = half_width.time;
      recurrence.default_cost = run.value.cost;
      recurrence.default_cost_uncertainty = half_width.cost;
      recurrence.default_unknown.clear();
    }
  }

  static Spent spent(const RecurrenceView& recurrence) {
    return {.energy = recurrence.energy.value(), .time = recurrence.time, .cost = recurrence.cost.value()};
  }
  // Its time is known, and so is its energy.
  [[nodiscard]] Spent half_width_of(const RecurrenceView& recurrence, const records::JobDevice& device) const {
    const Joules half_width = recurrence.uncertainty.value();
    return {.energy = half_width, .time = {}, .cost = cost_on(device, eta_, half_width, Seconds{})};
  }

  void note(const records::RecurrenceBegun& begun, WallTime) {
    recurrences_.push_back({.number = begun.recurrence + 1,
                            .state = RecurrenceState::running,
                            .owner = begun.owner,
                            .device = to_text(begun.device),
                            .reason = {}});
    devices_.push_back(begun.device);
  }
  void note(const records::TryStarted& started, WallTime when) {
    RecurrenceView& recurrence = recurrences_[started.event.recurrence];
    ++recurrence.tries;
    tries_.push_back({.number = started.event.try_number + 1,
                      .recurrence = recurrence.number,
                      .batch_size = started.event.batch_size,
                      .purpose = started.event.purpose,
                      .outcome = {},
                      .left_out = {},
                      .metric = {},
                      .limit = started.limit,
                      .energy = {},
                      .time = {},
                      .cost = {},
                      .budget = started.budget,
                      .exit_code = {},
                      .device = recurrence.device,
                      .host = recurrence.owner.host,
                      .started = when,
                      .ended = {}});
  }
  void note(const records::ProfileTaken& profiled, WallTime) {
    charge(profiled.event.recurrence, profiled.event.energy, sum(profiled.gpus), profiled.event.time);
  }
  void note(const records::EpochsRun& run, WallTime) {
    TryView& one = tries_[run.try_number];
    one.epochs = run.epochs;
    one.metric = run.metric;
  }
  void note(const records::TryFinished& finished, WallTime when) {
    const records::TryEnded& event = finished.event;
    TryView& one = tries_[event.try_number];
    one.outcome = event.outcome;
    one.left_out = finished.left_out;
    one.epochs = event.epochs;
    one.metric = finished.metric ? finished.metric : one.metric;
    one.limit = finished.limit ? finished.limit : one.limit;
    one.exit_code = finished.exit_code;
    one.energy = sum(finished.gpus);
    if (one.energy) {
      one.time = event.time;
      one.cost = cost_on(devices_[event.recurrence], eta_, event.energy, event.time);
    }
    one.ended = when;
    if (finished.left_out && !one.energy) {
      charge_unknown(event.recurrence, *finished.left_out, event.time);
    } else {
      charge(event.recurrence, event.energy, one.energy, event.time);
    }
    if (reached(event.outcome)) {
      recurrences_[event.recurrence].state = RecurrenceState::reached;
    }
  }
  void note(const records::RecurrenceGivenUp& given_up, WallTime) {
    RecurrenceView& recurrence = recurrences_[given_up.recurrence];
    recurrence.state = RecurrenceState::given_up;
    recurrence.reason = given_up.reason;
  }
  void note(const records::DeviceMoved&, WallTime) {}
  // What ran before is compared with the default that there was.
  void note(const records::JobRedefined& redefined, WallTime) {
    count_epochs();
    if (same_course(definition_, redefined.definition)) {
      default_runs_.choose(default_size());
    } else {
      define();
    }
    definition_ = redefined.definition;
  }

  void charge(std::uint64_t number, Joules energy, const std::optional<records::Energy>& measured, Seconds time) {
    RecurrenceView& recurrence = recurrences_[number];
    recurrence.time += time;
    if (!recurrence.energy_unknown.empty()) {
      return;
    }
    recurrence.energy = recurrence.energy.value() + energy;
    recurrence.cost = recurrence.cost.value() + cost_on(devices_[number], eta_, energy, time);
    if (measured) {
      recurrence.uncertainty = Joules{std::hypot(recurrence.uncertainty.value().value(), measured->uncertainty.value(),
                                                 least_doubt * energy.value())};
    }
  }
  void charge_unknown(std::uint64_t number, const std::string& why, Seconds time) {
    RecurrenceView& recurrence = recurrences_[number];
    recurrence.time += time;
    recurrence.energy_unknown = why;
    recurrence.energy.reset();
    recurrence.uncertainty.reset();
    recurrence.cost.reset();
  }

  double eta_;
  JobState state_;
  records::JobDefinition definition_;  // under which what comes next was written
  DefaultRuns default_runs_;
  std::vector<Against> against_;
  std::size_t counted_ = 0;  // of them
  std::vector<TryView> tries_;
  std::vector<RecurrenceView> recurrences_;
  std::vector<records::JobDevice> devices_;  // of recurrences, by number
};

std::vector<records::ArmView> arms_of(const JobState& state, const std::vector<TryView>& tries) {
  const optimize::JobSpec& spec = state.job().spec();
  const auto beliefs = state.job().policy().beliefs(state.job().profiles());
  std::vector<records::ArmView> arms;
  for (std::size_t arm = 0; arm < spec.arms(); ++arm) {
    records::ArmView view{.batch_size = spec.batch_sizes[arm],
                          .is_default = spec.batch_sizes[arm] == spec.default_batch_size,
                          .expected_cost = {},
                          .low_cost = {},
                          .high_cost = {},
                          .expected_epochs = {},
                          .limits = {},
                          .best_limit = {}};
    if (arm < beliefs.size() && beliefs[arm]) {
      view.expected_cost = beliefs[arm]->expected;
      view.low_cost = beliefs[arm]->low;
      view.high_cost = beliefs[arm]->high;
      view.expected_epochs = beliefs[arm]->epochs;
    }
    const auto limits = state.job().profiles().limits(arm);
    view.limits.assign(limits.begin(), limits.end());
    if (!view.limits.empty()) {
      view.best_limit = state.job().profiles().best(arm).limit;
    }
    arms.push_back(std::move(view));
  }
  for (const TryView& one : tries) {
    if (!std::ranges::binary_search(spec.batch_sizes, one.batch_size)) {
      continue;  // of a time when the job had it
    }
    records::ArmView& view = arms[spec.arm_of(one.batch_size)];
    view.running += one.outcome ? 0 : 1;
    view.reached += one.outcome == records::TryOutcome::reached ? 1 : 0;
    view.stopped +=
        one.outcome == records::TryOutcome::stopped || one.outcome == records::TryOutcome::exhausted ? 1 : 0;
  }
  return arms;
}

records::NextView next_of(const JobState& state) {
  const optimize::Action action = state.job().next(state.recurrences(), state.tries());
  records::NextView next{.limit = {}, .profiles = {}, .max_epochs = {}, .budget = {}, .why = why(action, state)};
  if (const auto* run = std::get_if<optimize::RunAction>(&action)) {
    next.kind = records::NextKind::run;
    next.batch_size = run->batch_size;
    next.purpose = run->purpose;
    next.limit = run->limit;
    next.max_epochs = run->max_epochs;
    next.budget = run->budget;
  } else if (const auto* profile = std::get_if<optimize::ProfileAction>(&action)) {
    next.kind = records::NextKind::profile;
    next.batch_size = profile->batch_size;
    next.purpose = records::TryPurpose::explore;
    next.profiles = profile->limits;
  } else {
    next.kind = records::NextKind::give_up;
  }
  return next;
}

double eta_of(const store::StoredJob& job, std::span<const records::JobEntry> entries) {
  double eta = job.definition.eta;
  for (const records::JobEntry& entry : entries) {
    if (const auto* const redefined = std::get_if<records::JobRedefined>(&entry.body)) {
      eta = redefined->definition.eta;
    }
  }
  return eta;
}

}  // namespace

records::JobView view_of(const store::StoredJob& job, std::span<const records::JobEntry> entries) {
  Walk walk{job, eta_of(job, entries)};
  for (const records::JobEntry& entry : entries) {
    walk.step(entry);
  }
  walk.end();
  const JobState& state = walk.state();
  const std::optional<records::SavingsView> savings = walk.savings(std::numeric_limits<std::size_t>::max());
  const std::optional<records::SavingsView> savings_last = walk.savings(last_recurrences);
  records::JobView view{
      .name = job.name,
      .definition = state.definition(),
      .device = state.device(),
      .created = job.created,
      .entries = state.sequence(),
      .recurrences = std::move(walk.recurrences()),
      .tries = std::move(walk.tries()),
      .arms = {},
      .best_cost = state.job().best_cost(),
      .next = next_of(state),
      .savings = savings,
      .savings_last = savings_last,
      .savings_unknown = "what the default batch size takes under the highest limit is not known yet"};
  view.arms = arms_of(state, view.tries);
  const auto last = std::ranges::find(view.recurrences.rbegin(), view.recurrences.rend(), RecurrenceState::reached,
                                      &RecurrenceView::state);
  if (last != view.recurrences.rend() && !last->default_unknown.empty()) {
    view.savings_unknown = last->default_unknown;
  }
  return view;
}

records::JobSummary summary_of(const records::JobView& view, const JobState& state) {
  records::JobSummary summary{.name = view.name,
                              .created = view.created,
                              .changed = view.created,
                              .entries = view.entries,
                              .device = to_text(view.device),
                              .has_batch_sizes = !view.definition.batch_sizes.empty(),
                              .recurrences = view.recurrences.size(),
                              .tries = view.tries.size(),
                              .running = {},
                              .next = view.next,
                              .took = {},
                              .took_uncertainty = {},
                              .savings = view.savings,
                              .savings_unknown = view.savings ? std::string{} : view.savings_unknown,
                              .counted = {}};
  for (const RecurrenceView& recurrence : view.recurrences) {
    summary.reached += recurrence.state == RecurrenceState::reached ? 1U : 0U;
    summary.given_up += recurrence.state == RecurrenceState::given_up ? 1U : 0U;
    if (recurrence.energy) {
      summary.took =
          summary.took +
          records::Spent{.energy = *recurrence.energy, .time = recurrence.time, .cost = recurrence.cost.value()};
      summary.took_uncertainty =
          Joules{std::hypot(summary.took_uncertainty.value(), recurrence.uncertainty.value().value())};
    } else {
      ++summary.energy_unknown;
    }
  }
  for (const OpenRecurrence& open : state.open()) {
    records::RunningSummary running{.recurrence = open.number + 1,
                                    .host = open.owner.host,
                                    .pid = open.owner.process.pid,
                                    .command = open.owner.process.command,
                                    .user = open.user,
                                    .try_number = {}};
    if (open.running) {
      running.try_number = open.running->number + 1;
      running.batch_size = open.running->batch_size;
      running.epochs = open.running->epochs;
    }
    summary.running.push_back(std::move(running));
  }
  return summary;
}

}  // namespace zeus::jobs
