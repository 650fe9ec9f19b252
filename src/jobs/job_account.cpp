#include "jobs/job_account.hpp"

#include "jobs/redefinition.hpp"
#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace zeus::jobs {

using records::CountUnit;
using records::DaySums;
using records::RecurrenceState;

namespace {

constexpr std::size_t last_recurrences = 5;
// The least relative uncertainty of a recurrence's energy: at the beginning and the end of a command, counters always
// read a little low. Assumed.
constexpr double least_energy_doubt = 0.003;

std::optional<records::Energy> total_energy(const std::vector<records::GpuEnergy>& gpus) {
  if (gpus.empty()) {
    return std::nullopt;
  }
  records::Energy whole = gpus.front().energy;
  for (std::size_t index = 1; index < gpus.size(); ++index) {
    whole = whole + gpus[index].energy;
  }
  return whole;
}

std::int64_t day_of(WallTime when) {
  constexpr std::int64_t microseconds = 86'400'000'000;
  const std::int64_t whole = when.microseconds_since_epoch / microseconds;
  return whole - (when.microseconds_since_epoch % microseconds < 0 ? 1 : 0);
}

// What is left of `whole` without `part`; nothing but rounding is 0.
template <typename Amount>
Amount without(Amount whole, Amount part) {
  constexpr double rounding = 1e-9;
  return whole - part > whole * rounding ? whole - part : Amount{};
}

double square(Joules value) {
  return value.value() * value.value();
}

// The entries at the last mark before `number` began.
template <typename Begun>
std::uint64_t entries_before(const std::vector<JobAccount::Mark>& marks, std::uint64_t number, Begun begun) {
  const auto after = std::ranges::lower_bound(marks, number, {}, begun);
  return static_cast<std::uint64_t>(after - marks.begin()) * JobAccount::entries_between_marks;
}

}  // namespace

JobAccount::JobAccount(const records::JobDefinition& definition, double eta, std::size_t kept,
                       JobState::LeftOut left_out)
    : eta_{eta},
      kept_{kept},
      state_{definition, std::move(left_out)},
      definition_{definition},
      default_runs_{eta},
      took_{},
      last_open_{} {
  define();
}

bool JobAccount::is_up_to_date() const {
  return eta_ == state_.definition().eta && state_.left_out() == state_.left_out_on_record();
}

JobAccount JobAccount::begun_again(const records::JobDefinition& first, std::size_t kept) const {
  return {first, state_.definition().eta, kept, state_.left_out_on_record()};
}

void JobAccount::define() {
  default_runs_.define(default_size(), state_.definition().target.has_value());
}

void JobAccount::apply(const records::JobEntry& entry) {
  state_.apply(entry);
  changed_us_ = entry.written.microseconds_since_epoch;
  std::visit([this, &entry](const auto& body) { note(body, entry.written); }, entry.body);
  forget();
  if (entry.sequence % entries_between_marks == 0) {
    marks_.push_back({.recurrences = state_.recurrences(), .tries = state_.tries()});
  }
}

RecurrenceAccount& JobAccount::recurrence(std::uint64_t number) {
  return *std::ranges::lower_bound(recurrences_, number + 1, {},
                                   [](const RecurrenceAccount& one) { return one.view.number; });
}

TryAccount& JobAccount::one_try(std::uint64_t number) {
  return *std::ranges::lower_bound(tries_, number + 1, {}, [](const TryAccount& one) { return one.view.number; });
}

void JobAccount::forget() {
  const auto cut = [this](auto& list, std::uint64_t begun, const auto& is_over) {
    if (list.size() > kept_) {
      std::erase_if(list, [&](const auto& one) { return one.view.number + kept_ <= begun && is_over(one); });
    }
  };
  cut(recurrences_, state_.recurrences(),
      [](const RecurrenceAccount& one) { return one.view.state != RecurrenceState::running; });
  cut(tries_, state_.tries(), [](const TryAccount& one) { return one.view.outcome.has_value(); });
}

Joules JobAccount::cost_of(const records::JobDevice& device, Joules energy, Seconds time) const {
  return optimize::EnergyTimeCost{eta_, device.max_power}.of(energy, time);
}

void JobAccount::note(const records::RecurrenceBegun& begun, WallTime /*when*/) {
  recurrences_.push_back({.view = {.number = begun.recurrence + 1,
                                   .state = RecurrenceState::running,
                                   .owner = begun.owner,
                                   .device = to_text(begun.device),
                                   .reason = {}},
                          .device = begun.device,
                          .parts = {}});
}

void JobAccount::note(const records::TryStarted& started, WallTime when) {
  records::RecurrenceView& of = recurrence(started.event.recurrence).view;
  ++of.tries;
  tries_.push_back({.view = {.number = started.event.try_number + 1,
                             .recurrence = of.number,
                             .batch_size = started.event.plan.batch_size,
                             .purpose = started.event.plan.purpose,
                             .outcome = {},
                             .left_out = {},
                             .metric = {},
                             .limit = started.event.plan.limit,
                             .energy = {},
                             .time = {},
                             .cost = {},
                             .budget = started.event.plan.budget,
                             .exit_code = {},
                             .device = of.device,
                             .host = of.owner.host,
                             .started = when,
                             .ended = {}}});
}

void JobAccount::note(const records::ProfileTaken& profiled, WallTime /*when*/) {
  RecurrenceAccount& of = recurrence(profiled.recurrence);
  if (const std::string* const why = state_.why_left_out(profiled.recurrence)) {
    charge_unknown(of, *why, profiled.measured.time);
    return;
  }
  charge(of, profiled.energy, total_energy(profiled.measured.charged), profiled.measured.time);
}

void JobAccount::note(const records::EpochsRun& run, WallTime /*when*/) {
  records::TryView& one = one_try(run.try_number).view;
  one.epochs = run.progress.epochs;
  one.metric = run.progress.metric;
}

void JobAccount::note(const records::TryFinished& as_told, WallTime when) {
  records::TryFinished finished = as_told;
  records::TryResult& result = finished.result;
  const records::TryProgress& progress = result.progress;
  const std::string* const why = state_.why_left_out(finished.recurrence);
  if (why != nullptr) {
    result.left_out = *why;
  }
  RecurrenceAccount& of = recurrence(finished.recurrence);
  records::TryView& one = one_try(finished.try_number).view;
  one.outcome = result.outcome;
  one.left_out = result.left_out;
  one.epochs = progress.epochs;
  one.metric = progress.metric ? progress.metric : one.metric;
  one.limit = result.limit || result.left_out ? result.limit : one.limit;
  one.exit_code = result.exit_code;
  one.energy = total_energy(progress.gpus);
  if (one.energy) {
    one.time = progress.time;
    one.cost = cost_of(of.device, finished.energy, progress.time);
  }
  one.ended = when;
  if (why != nullptr || (result.left_out && !one.energy)) {
    charge_unknown(of, *result.left_out, progress.time);
  } else {
    charge(of, finished.energy, one.energy, progress.time);
  }
  Ended& ends = ended_[finished.batch_size];
  ends.reached += records::reached(result.outcome) ? 1 : 0;
  ends.stopped +=
      result.outcome == records::TryOutcome::stopped || result.outcome == records::TryOutcome::exhausted ? 1 : 0;
  default_runs_.learn(of.device, finished, state_.limits(of.device, finished.batch_size));
  if (records::reached(result.outcome)) {
    of.view.state = RecurrenceState::reached;
    ++reached_;
    compare(of, finished, when);
  }
}

void JobAccount::note(const records::RecurrenceGivenUp& given_up, WallTime /*when*/) {
  RecurrenceAccount& of = recurrence(given_up.recurrence);
  of.view.state = RecurrenceState::given_up;
  of.view.reason = given_up.reason;
  ++given_up_;
}

void JobAccount::note(const records::DeviceMoved& /*moved*/, WallTime /*when*/) {
}

// What ran before is compared with the default of its time.
void JobAccount::note(const records::JobRedefined& redefined, WallTime /*when*/) {
  close_era();
  if (same_course(definition_, redefined.definition)) {
    default_runs_.choose(default_size());
  } else {
    define();
  }
  definition_ = redefined.definition;
}

// A recurrence keeps the cost known at its end; a late report is shown with its try.
void JobAccount::note(const records::LateReport& late, WallTime /*when*/) {
  const auto known =
      std::ranges::find(tries_, late.try_number + 1, [](const TryAccount& one) { return one.view.number; });
  if (known == tries_.end()) {
    return;
  }
  records::TryView& one = known->view;
  one.left_out = "it went on and reported epochs after it was given up";
  const records::TryProgress& progress = late.progress;
  one.epochs = progress.epochs;
  one.metric = progress.metric ? progress.metric : one.metric;
  one.energy = total_energy(progress.gpus);
  if (one.energy) {
    one.time = progress.time;
    one.cost = optimize::EnergyTimeCost{eta_, state_.find_past(late.try_number)->max_power}.of(one.energy->value,
                                                                                               progress.time);
  }
}

// The account that folds the history again shows the recurrence as left out.
void JobAccount::note(const records::RecurrenceLeftOut& /*left_out*/, WallTime /*when*/) {
}

void JobAccount::charge(RecurrenceAccount& of, Joules energy, const std::optional<records::Energy>& measured,
                        Seconds time) {
  records::RecurrenceView& view = of.view;
  const Joules cost = cost_of(of.device, energy, time);
  view.time += time;
  took_ = took_ + records::Spent{.energy = energy, .time = time, .cost = cost};
  if (measured) {
    took_squares_ += square(measured->uncertainty) + square(energy * least_energy_doubt);
  }
  if (!view.energy_unknown.empty()) {
    return;
  }
  view.energy = view.energy.value() + energy;
  view.cost = view.cost.value() + cost;
  if (measured) {
    view.uncertainty = Joules{std::hypot(view.uncertainty.value().value(), measured->uncertainty.value(),
                                         least_energy_doubt * energy.value())};
  }
}

void JobAccount::charge_unknown(RecurrenceAccount& of, const std::string& why, Seconds time) {
  of.view.time += time;
  took_.time += time;
  unknown_ += of.view.energy_unknown.empty() ? 1 : 0;
  of.view.energy_unknown = why;
  of.view.energy.reset();
  of.view.uncertainty.reset();
  of.view.cost.reset();
}

records::SpentView JobAccount::spent() const {
  records::SpentView spent{.recurrences = state_.recurrences(),
                           .energy = took_.energy,
                           .energy_uncertainty = Joules{std::sqrt(took_squares_)},
                           .time = took_.time,
                           .cost = took_.cost,
                           .energy_unknown = unknown_,
                           .others = state_.recurrences(),
                           .energy_of_others = took_.energy,
                           .time_of_others = took_.time,
                           .cost_of_others = took_.cost};
  if (const std::optional<records::SavingsView> compared = savings()) {
    spent.others -= compared->recurrences;
    spent.energy_of_others = without(spent.energy, compared->energy_of_default - compared->energy);
    spent.time_of_others = without(spent.time, compared->time_of_default - compared->time);
    spent.cost_of_others = without(spent.cost, compared->cost_of_default - compared->cost);
  }
  return spent;
}

JobAccount::Ended JobAccount::ended(int batch_size) const {
  const auto known = ended_.find(batch_size);
  return known == ended_.end() ? Ended{} : known->second;
}

// A recurrence has reached the target: finds what to compare it with.
void JobAccount::compare(RecurrenceAccount& over, const records::TryFinished& finished, WallTime when) {
  over.era = eras_.size();
  records::RecurrenceView& view = over.view;
  auto parts = default_runs_.parts(over.device, finished, state_.limits(over.device, default_size()));
  if (!view.energy_unknown.empty()) {
    view.default_unknown = view.energy_unknown;
  } else if (const auto* const why = std::get_if<std::string>(&parts)) {
    view.default_unknown = *why;
  } else {
    over.parts = std::get<DefaultParts>(parts);
    const std::optional<EpochCount> likely =
        over.parts->has_epochs() ? default_runs_.likely_epochs(finished.batch_size) : EpochCount{};
    const DefaultRun run = default_run(*over.parts, likely.value_or(EpochCount{.mean = 1.0}));
    if (run.value.energy - run.half_width().energy > over.device.max_power * run.value.time) {
      over.parts.reset();
      view.default_unknown = "the default would have drawn more than these GPUs can: the measurements must be wrong";
    } else {
      view.default_unknown.clear();
      count(over, when);
    }
  }
  if (!last_reached_ || last_reached_->view.number < view.number) {
    last_reached_ = over;
  }
}

DaySums& JobAccount::day(std::int64_t number, CountUnit unit) {
  const auto key = [](const DaySums& sums) { return std::pair{sums.day, sums.unit}; };
  const auto place = std::ranges::lower_bound(days_, std::pair{number, unit}, {}, key);
  if (place != days_.end() && key(*place) == std::pair{number, unit}) {
    return *place;
  }
  return *days_.insert(place, DaySums{.day = number, .unit = unit});
}

void JobAccount::count(const RecurrenceAccount& over, WallTime when) {
  const DefaultParts& parts = *over.parts;
  const Joules half_width = over.view.uncertainty.value();
  const Against against{
      .order = reached_,
      .took = {.energy = over.view.energy.value(), .time = over.view.time, .cost = over.view.cost.value()},
      .doubt = {.energy = half_width, .time = {}, .cost = cost_of(over.device, half_width, Seconds{})},
      .parts = parts,
      .counted = {.mean = 0.0}};
  const bool open = parts.has_epochs();
  const std::int64_t number = day_of(when);
  DaySums& sums = day(number, open ? parts.unit : CountUnit::known);
  ++sums.recurrences;
  sums.took = sums.took + against.took;
  sums.energy_squares += square(against.doubt.energy);
  sums.cost_squares += square(against.doubt.cost);
  sums.start = sums.start + parts.start;
  sums.start_half_width = sums.start_half_width + parts.start_half_width;
  sums.epoch = sums.epoch + parts.epoch;
  sums.epoch_half_width = sums.epoch_half_width + parts.epoch * parts.epoch_half_width;
  if (changed_days_ && std::ranges::find(*changed_days_, number) == changed_days_->end()) {
    changed_days_->push_back(number);
  }
  std::vector<Against>& last = open ? last_open_.at(parts.unit == CountUnit::epoch ? 0 : 1) : last_known_;
  last.push_back(against);
  if (last.size() > last_recurrences) {
    last.erase(last.begin());
  }
}

JobAccount::Counted JobAccount::counted_in(std::uint64_t era) const {
  if (era >= eras_.size()) {
    return default_runs_.epochs();
  }
  const Era& past = eras_[era];
  return past.counted ? Counted{*past.counted} : Counted{past.unknown};
}

std::optional<records::CountedEpochs> JobAccount::counted() const {
  const Counted known = default_runs_.epochs();
  const auto* const count = std::get_if<EpochCount>(&known);
  return count != nullptr ? std::optional{*count} : std::nullopt;
}

// The default's number of epochs under this definition is final.
void JobAccount::close_era() {
  const Counted known = default_runs_.epochs();
  const std::optional<records::CountedEpochs> count = counted();
  eras_.push_back({.counted = count, .unknown = count ? std::string{} : std::get<std::string>(known)});
  const bool any_open = std::ranges::any_of(days_, [](const DaySums& sums) { return sums.unit != CountUnit::known; });
  if (!any_open) {
    return;
  }
  const std::vector<DaySums> open = std::exchange(days_, {});
  for (const DaySums& sums : open) {
    if (const std::optional<DaySums> put = evaluated(sums, count)) {
      DaySums& whole = day(put->day, CountUnit::known);
      whole = whole + *put;
    }
  }
  changed_days_.reset();
  for (std::vector<Against>& last : last_open_) {
    for (Against& one : last) {
      if (count && count->unit == one.parts.unit) {
        one.counted = *count;
        last_known_.push_back(one);
      }
    }
    last.clear();
  }
  std::ranges::sort(last_known_, {}, &Against::order);
  const std::size_t more = last_known_.size() - std::min(last_known_.size(), last_recurrences);
  last_known_.erase(last_known_.begin(), last_known_.begin() + static_cast<std::ptrdiff_t>(more));
}

std::optional<std::vector<DaySums>> JobAccount::take_changed_days() {
  const auto changed = std::exchange(changed_days_, std::vector<std::int64_t>{});
  if (!changed) {
    return std::nullopt;
  }
  std::vector<DaySums> sums;
  std::ranges::copy_if(days_, std::back_inserter(sums),
                       [&](const DaySums& one) { return std::ranges::count(*changed, one.day) > 0; });
  return sums;
}

std::optional<records::SavingsView> JobAccount::savings() const {
  return savings_of(days_, counted());
}

std::optional<records::SavingsView> JobAccount::savings_of_last() const {
  std::vector<Against> last = last_known_;
  const std::optional<records::CountedEpochs> count = counted();
  for (const std::vector<Against>& open : last_open_) {
    for (const Against& one : open) {
      if (count && count->unit == one.parts.unit) {
        last.push_back(one);
        last.back().counted = *count;
      }
    }
  }
  if (last.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(last, {}, &Against::order);
  DefaultRun of_default;
  records::Spent took;
  records::Spent doubt;
  std::uint64_t counts = 0;
  for (auto one = last.rbegin(); one != last.rend() && counts < last_recurrences; ++one, ++counts) {
    of_default = of_default + default_run(one->parts, one->counted);
    took = took + one->took;
    doubt = together(doubt, one->doubt);
  }
  const records::Spent half_width = together(of_default.half_width(), doubt);
  return records::SavingsView{.recurrences = counts,
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

std::string JobAccount::savings_unknown() const {
  if (last_reached_) {
    if (std::string why = shown(*last_reached_).default_unknown; !why.empty()) {
      return why;
    }
  }
  return "what the default batch size takes under the highest limit is not known yet";
}

records::RecurrenceView JobAccount::shown(const RecurrenceAccount& kept) const {
  records::RecurrenceView view = kept.view;
  if (!kept.parts) {
    return view;
  }
  const bool has_epochs = kept.parts->has_epochs();
  const Counted known = has_epochs ? counted_in(kept.era) : Counted{EpochCount{}};
  if (const auto* const why = std::get_if<std::string>(&known)) {
    view.default_unknown = *why;
    return view;
  }
  const EpochCount& epochs = std::get<EpochCount>(known);
  if (has_epochs && epochs.unit != kept.parts->unit) {
    view.default_unknown = "it reported no epochs, and later recurrences do";
    return view;
  }
  const DefaultRun run = default_run(*kept.parts, epochs);
  const records::Spent half_width = run.half_width();
  view.default_energy = run.value.energy;
  view.default_energy_uncertainty = half_width.energy;
  view.default_time = run.value.time;
  view.default_time_uncertainty = half_width.time;
  view.default_cost = run.value.cost;
  view.default_cost_uncertainty = half_width.cost;
  return view;
}

std::uint64_t JobAccount::entries_before_recurrence(std::uint64_t number) const {
  return entries_before(marks_, number, &Mark::recurrences);
}

std::uint64_t JobAccount::entries_before_try(std::uint64_t number) const {
  return entries_before(marks_, number, &Mark::tries);
}

std::string JobAccount::save() const {
  StateWriter writer;
  writer(eta_, *this);
  return sealed(writer.take());
}

void JobAccount::restore(std::string_view state, std::string_view account) {
  state_.restore(state);
  StateReader reader{unsealed(account)};
  reader(eta_, *this);
  if (!reader.done()) {
    throw Error{ErrorKind::corrupt_data, "this is not the account of such a job"};
  }
  changed_days_.reset();
}

}  // namespace zeus::jobs
