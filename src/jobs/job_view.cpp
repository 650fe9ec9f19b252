#include "jobs/job_view.hpp"

#include "jobs/explanation.hpp"
#include "jobs/job_state.hpp"

#include <algorithm>
#include <cmath>
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

// Walks a history once and keeps what people want to know of it.
class Walk {
 public:
  explicit Walk(const store::StoredJob& job) : eta_{job.definition.eta}, state_{job.definition} {}

  void step(const records::JobEntry& entry) {
    state_.apply(entry);
    std::visit([this, &entry](const auto& body) { note(body, entry.written); }, entry.body);
    if (const auto* finished = std::get_if<records::TryFinished>(&entry.body);
        finished != nullptr && reached(finished->event.outcome)) {
      default_epochs_[finished->event.recurrence] = believed_of_default();
    }
  }

  [[nodiscard]] const JobState& state() const { return state_; }
  std::vector<TryView>& tries() { return tries_; }
  std::vector<RecurrenceView>& recurrences() { return recurrences_; }
  // Of recurrences, by number.
  [[nodiscard]] const std::vector<records::JobDevice>& devices() const { return devices_; }
  // Of recurrences, by number: the epochs that the default batch size was believed to need when each ended, where the
  // policy has an opinion about epochs.
  [[nodiscard]] const std::vector<std::optional<double>>& default_epochs() const { return default_epochs_; }

 private:
  // The middle of the belief, which its doubt does not make larger.
  [[nodiscard]] std::optional<double> believed_of_default() const {
    const optimize::RecurringJob& job = state_.job();
    const auto beliefs = job.policy().beliefs(job.profiles());
    const std::size_t arm = job.spec().default_arm();
    if (arm >= beliefs.size() || !beliefs[arm] || !beliefs[arm]->epochs) {
      return std::nullopt;
    }
    const optimize::CostBelief& known = *beliefs[arm];
    return *known.epochs * (std::sqrt(known.low.value() * known.high.value()) / known.expected.value());
  }

  void note(const records::RecurrenceBegun& begun, WallTime) {
    recurrences_.push_back({.number = begun.recurrence,
                            .state = RecurrenceState::running,
                            .owner = begun.owner,
                            .device = to_text(begun.device),
                            .reason = {}});
    devices_.push_back(begun.device);
    default_epochs_.emplace_back();
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
  std::vector<TryView> tries_;
  std::vector<RecurrenceView> recurrences_;
  std::vector<records::JobDevice> devices_;
  std::vector<std::optional<double>> default_epochs_;
};

// What the default would have taken for one recurrence: its batch size under the highest limit. Where the recurrence
// ran just that, what it took; where it ran that batch size, its own epochs; otherwise what was believed of it then,
// which follows a job that changes; and where the policy has no opinion about epochs, the mean of those that ran it.
class DefaultCost {
 public:
  DefaultCost(const records::JobDefinition& definition, const JobState& state, const std::vector<TryView>& tries)
      : batch_size_{state.job().spec().default_batch_size}, eta_{definition.eta}, state_{&state} {
    for (const TryView& one : tries) {
      if (one.outcome == records::TryOutcome::reached && !one.left_out && one.batch_size == batch_size_) {
        epochs_ += one.epochs;
        ++runs_;
      }
    }
  }

  void put(RecurrenceView& recurrence, const records::JobDevice& device, const TryView& last,
           std::optional<double> believed_epochs) const {
    const Watts highest = device.power_limits.back();
    if (last.batch_size == batch_size_ && last.limit == highest && last.energy) {
      recurrence.default_energy = last.energy->value;
      recurrence.default_time = last.time;
    } else {
      const std::vector<records::LimitProfile> limits = state_->limits(device, batch_size_);
      const double of_others = believed_epochs.value_or(epochs_ / std::max(runs_, 1));
      const double epochs = last.batch_size == batch_size_ ? last.epochs : of_others;
      if (limits.empty() || limits.back().limit != highest || epochs <= 0.0) {
        return;
      }
      recurrence.default_time = limits.back().epoch_time * epochs;
      recurrence.default_energy = limits.back().average_power * *recurrence.default_time;
    }
    recurrence.default_cost = cost_on(device, eta_, *recurrence.default_energy, *recurrence.default_time);
  }

 private:
  int batch_size_;
  double eta_;
  const JobState* state_;
  double epochs_ = 0.0;
  int runs_ = 0;
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

}  // namespace

records::JobView view_of(const store::StoredJob& job, std::span<const records::JobEntry> entries) {
  Walk walk{job};
  for (const records::JobEntry& entry : entries) {
    walk.step(entry);
  }
  const JobState& state = walk.state();
  const DefaultCost default_cost{job.definition, state, walk.tries()};
  for (const TryView& one : walk.tries()) {
    if (one.outcome == records::TryOutcome::reached) {
      default_cost.put(walk.recurrences()[one.recurrence], walk.devices()[one.recurrence], one,
                       walk.default_epochs()[one.recurrence]);
    }
  }
  records::JobView view{
      .name = job.name,
      .definition = job.definition,
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
  view.savings_last = savings_of(view.recurrences, last_recurrences);
  return view;
}

}  // namespace zeus::jobs
