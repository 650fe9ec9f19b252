#include "jobs/job_view.hpp"

#include "jobs/explanation.hpp"
#include "jobs/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace zeus::jobs {

using records::RecurrenceState;
using records::RecurrenceView;
using records::TryView;

namespace {

constexpr std::size_t last_recurrences = 5;

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

// How long a run takes beside its epochs, and what: a mean of what told it, in which the latest counts for a quarter or
// more.
struct Start {
  Seconds time;
  Joules energy;
  int count = 0;

  void add(const records::WholeEpochs& whole) {
    constexpr int remembered = 4;
    count = std::min(count + 1, remembered);
    time += (*whole.start_time - time) / count;
    energy += (*whole.start_energy - energy) / count;
  }
};

// What a shorter run takes is mostly the start of a program, which differs from run to run.
constexpr Seconds shortest_run{2};

// What is known of whole runs on one kind of devices.
struct RunsOn {
  records::JobDevice device;
  std::map<int, Start> starts;  // by batch size
  double default_epochs = 0.0;  // summed over the runs of the default batch size
  int default_runs = 0;

  // Of another batch size where there is none of this one: what comes before the first epoch is much the same.
  [[nodiscard]] const Start* start_of(int batch_size) const {
    const auto own = starts.find(batch_size);
    if (own != starts.end()) {
      return &own->second;
    }
    return starts.empty() ? nullptr : &starts.begin()->second;
  }
};

// Walks a history once and keeps what people want to know of it.
class Walk {
 public:
  // Costs are weighed by `eta`, also those of a time when the job weighed them differently.
  Walk(const store::StoredJob& job, double eta)
      : eta_{eta}, state_{job.definition}, default_size_{state_.job().spec().default_batch_size} {}

  void step(const records::JobEntry& entry) {
    state_.apply(entry);
    std::visit([this, &entry](const auto& body) { note(body, entry.written); }, entry.body);
    if (const auto* finished = std::get_if<records::TryFinished>(&entry.body)) {
      learn(*finished);
      if (reached(finished->event.outcome)) {
        RecurrenceView& recurrence = recurrences_[finished->event.recurrence];
        recurrence.default_unknown = put_default(recurrence, *finished);
      }
    }
  }

  [[nodiscard]] const JobState& state() const { return state_; }
  std::vector<TryView>& tries() { return tries_; }
  std::vector<RecurrenceView>& recurrences() { return recurrences_; }

 private:
  RunsOn& runs_on(const records::JobDevice& device) {
    const auto known = std::ranges::find(runs_, device, &RunsOn::device);
    return known != runs_.end() ? *known : runs_.emplace_back(RunsOn{.device = device, .starts = {}});
  }

  void learn(const records::TryFinished& finished) {
    if (finished.left_out) {
      return;
    }
    RunsOn& runs = runs_on(devices_[finished.event.recurrence]);
    if (finished.whole_epochs && finished.whole_epochs->start_time && finished.whole_epochs->start_energy) {
      runs.starts[finished.event.batch_size].add(*finished.whole_epochs);
    }
    if (reached(finished.event.outcome) && finished.event.batch_size == default_size_) {
      runs.default_epochs += finished.event.epochs;
      ++runs.default_runs;
    }
  }

  // The middle of the belief, which its doubt does not make larger; where the policy has no opinion about epochs, the
  // mean of the runs that told. The default batch size was believed to need these when this recurrence ended, so that
  // they follow a job that changes.
  [[nodiscard]] std::optional<double> epochs_of_default(const RunsOn& runs) const {
    const optimize::RecurringJob& job = state_.job();
    const auto beliefs = job.policy().beliefs(job.profiles());
    const std::size_t arm = job.spec().default_arm();
    if (arm < beliefs.size() && beliefs[arm] && beliefs[arm]->epochs) {
      const optimize::CostBelief& known = *beliefs[arm];
      return *known.epochs * (std::sqrt(known.low.value() * known.high.value()) / known.expected.value());
    }
    return runs.default_runs == 0 ? std::nullopt : std::optional{runs.default_epochs / runs.default_runs};
  }

  // A whole run of the default in the place of this recurrence. Where it ran just that: what it took. Otherwise the
  // start, and epochs under the highest limit: as many as this run had, where it ran the default batch size. Returns
  // why it is not known; empty where it is.
  std::string put_default(RecurrenceView& recurrence, const records::TryFinished& finished) {
    const records::JobDevice& device = devices_[recurrence.number];
    const Watts highest = device.power_limits.back();
    const bool same_size = finished.event.batch_size == default_size_;
    const auto put = [&](Joules energy, Seconds time) {
      recurrence.default_energy = energy;
      recurrence.default_time = time;
      recurrence.default_cost = cost_on(device, eta_, energy, time);
      return std::string{};
    };
    if (finished.event.time < shortest_run) {
      return fmt::format("a run of less than {:.0f} s is too short to say", shortest_run.value());
    }
    if (same_size && finished.limit == highest && !finished.gpus.empty()) {
      return put(finished.event.energy, finished.event.time);
    }
    const std::vector<records::LimitProfile> limits = state_.limits(device, default_size_);
    if (limits.empty() || limits.back().limit != highest) {
      return "what an epoch of the default takes under the highest limit is not known yet";
    }
    // A lower limit cannot make the same training faster: where slices seem to say so, they have erred.
    const Seconds epoch = std::ranges::min(limits, {}, &records::LimitProfile::epoch_time).epoch_time;
    const RunsOn& runs = runs_on(device);
    const std::optional<double> epochs =
        same_size ? std::optional<double>{finished.event.epochs} : epochs_of_default(runs);
    if (!epochs || *epochs <= 0.0) {
      return "how many epochs the default batch size takes is not known yet";
    }
    const Start* const start = runs.start_of(default_size_);
    if (start == nullptr) {
      return "how long a run takes beside its epochs is not known yet: that takes steps that are seen, or two epochs "
             "under one limit";
    }
    return put(start->energy + limits.back().average_power * epoch * *epochs, start->time + epoch * *epochs);
  }

  void note(const records::RecurrenceBegun& begun, WallTime) {
    recurrences_.push_back({.number = begun.recurrence,
                            .state = RecurrenceState::running,
                            .owner = begun.owner,
                            .device = to_text(begun.device),
                            .reason = {}});
    devices_.push_back(begun.device);
  }
  void note(const records::TryStarted& started, WallTime when) {
    RecurrenceView& recurrence = recurrences_[started.event.recurrence];
    ++recurrence.tries;
    tries_.push_back({.number = started.event.try_number,
                      .recurrence = started.event.recurrence,
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
    charge(event.recurrence, event.energy, one.energy, event.time);
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
  // Another default, or another target, takes other epochs.
  void note(const records::JobRedefined&, WallTime) {
    default_size_ = state_.job().spec().default_batch_size;
    for (RunsOn& runs : runs_) {
      runs.default_epochs = 0.0;
      runs.default_runs = 0;
    }
  }

  void charge(std::uint64_t number, Joules energy, const std::optional<records::Energy>& measured, Seconds time) {
    RecurrenceView& recurrence = recurrences_[number];
    recurrence.energy += energy;
    recurrence.time += time;
    recurrence.cost += cost_on(devices_[number], eta_, energy, time);
    if (measured) {
      recurrence.uncertainty = Joules{std::hypot(recurrence.uncertainty.value(), measured->uncertainty.value())};
    }
  }

  double eta_;
  JobState state_;
  int default_size_;
  std::vector<TryView> tries_;
  std::vector<RecurrenceView> recurrences_;
  std::vector<records::JobDevice> devices_;  // of recurrences, by number
  std::vector<RunsOn> runs_;
};

std::optional<records::SavingsView> savings_of(const std::vector<RecurrenceView>& recurrences, std::size_t most) {
  records::SavingsView savings;
  for (auto one = recurrences.rbegin(); one != recurrences.rend() && savings.recurrences < most; ++one) {
    if (!one->default_cost) {
      continue;
    }
    ++savings.recurrences;
    savings.energy_of_default += *one->default_energy;
    savings.time_of_default += *one->default_time;
    savings.cost_of_default += *one->default_cost;
    savings.energy += *one->default_energy - one->energy;
    savings.time += *one->default_time - one->time;
    savings.cost += *one->default_cost - one->cost;
  }
  return savings.recurrences == 0 ? std::nullopt : std::optional{savings};
}

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
  const JobState& state = walk.state();
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
      .savings = {},
      .savings_last = {},
      .savings_unknown = "what the default batch size takes under the highest limit is not known yet"};
  view.arms = arms_of(state, view.tries);
  view.savings = savings_of(view.recurrences, view.recurrences.size());
  const auto last = std::ranges::find(view.recurrences.rbegin(), view.recurrences.rend(), RecurrenceState::reached,
                                      &RecurrenceView::state);
  if (last != view.recurrences.rend() && !last->default_unknown.empty()) {
    view.savings_unknown = last->default_unknown;
  }
  view.savings_last = savings_of(view.recurrences, last_recurrences);
  return view;
}

}  // namespace zeus::jobs
