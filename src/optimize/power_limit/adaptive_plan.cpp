#include "optimize/power_limit/adaptive_plan.hpp"

#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "optimize/power_limit/choice.hpp"
#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <utility>

namespace zeus::optimize {

namespace {

constexpr std::uint64_t seed = 0x5a65'7573;
constexpr int draws = 200;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t steps_for_each_setting = 30;
// A setting that is less likely than this to win is not worth a slice.
constexpr double negligible_threat = 0.004;
constexpr std::size_t rungs_of_a_first_walk = 8;
// If the device does not report what holds it back, a GPU that draws this share of its limit counts as held by it.
constexpr double share_when_held = 0.93;
constexpr double capped_at_all = 0.02;
// What disturbs a machine lasts longer than a step of milliseconds, so that the steps of one slice are disturbed alike:
// more of them do not make its mean more certain.
constexpr double independent_steps = 5.0;
// Of a training that may end soon. Five ticks of a counter that ticks twenty times a second.
constexpr Seconds long_slice{0.25};

void check_options(const AdaptivePlanOptions& options) {
  const auto share = [](double value) { return value > 0.0 && value < 1.0; };
  if (!share(options.tolerance) || !share(options.confidence) || !share(options.relative_error) ||
      options.measure == 0 || !(options.settle_time >= Seconds{0}) || !std::isfinite(options.settle_time.value())) {
    throw Error{
        ErrorKind::invalid_argument, "the options of the adaptive power-limit plan are invalid",
        "give a tolerance, confidence and relative error between 0 and 1, and measure at least one step in each slice"};
  }
}

}  // namespace

AdaptivePlan::AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options)
    : selector_{std::move(selector)},
      options_{options},
      length_{options.measure, options.warm_up, options.settle_time,
              options.may_end_soon ? std::optional{long_slice} : std::nullopt} {
  check_options(options);
  for (const Watts limit : range.limits()) {
    entries_.push_back({.setting = {.limit = limit, .clock = std::nullopt}, .knob = Knob::limit});
  }
  for (const Megahertz clock : range.clocks()) {
    entries_.push_back({.setting = {.limit = range.limits().front(), .clock = clock}, .knob = Knob::clock});
  }
}

AdaptivePlan::AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options,
                           const records::PowerProfile& known)
    : AdaptivePlan{range, std::move(selector), options} {
  bool all = true;
  for (const records::PowerMeasurement& measurement : known.measurements) {
    if (find(measurement.setting) == nullptr) {
      all = false;
    } else {
      take(measurement);
    }
  }
  if (measured_any()) {
    times_.fit();
    energies_.fit();
    done_ = known.complete && all;
  }
}

AdaptivePlan::Entry* AdaptivePlan::find(const records::PowerSetting& setting) {
  const auto entry = std::ranges::find(entries_, setting, &Entry::setting);
  return entry == entries_.end() ? nullptr : &*entry;
}

// Limits that hold nothing back are the same to the GPU, so they share a column in the models.
std::size_t AdaptivePlan::column_of(Entry& entry, std::optional<double> capped) {
  const auto free = [](const Entry& e) {
    return e.knob == Knob::limit && e.column && e.capped && *e.capped <= capped_at_all;
  };
  if (!entry.column) {
    const auto same = entry.knob == Knob::limit && capped && *capped <= capped_at_all
                          ? std::ranges::find_if(entries_, free)
                          : entries_.end();
    entry.column = same == entries_.end() ? times_.settings() : *same->column;
  }
  return *entry.column;
}

void AdaptivePlan::take(const records::PowerMeasurement& known) {
  Entry& entry = *find(known.setting);
  const std::size_t column = column_of(entry, known.capped);
  times_.add({.setting = column,
              .position = infinite,
              .steps = infinite,
              .log_mean = portable::log(known.step_time.value()),
              .deviation = known.step_time_uncertainty / known.step_time / records::normal_95});
  energies_.add({.setting = column,
                 .position = infinite,
                 .steps = infinite,
                 .log_mean = portable::log(known.step_energy.value.value()),
                 .deviation = known.step_energy.uncertainty / known.step_energy.value / records::normal_95});
  entry.steps += known.steps;
  entry.capped = known.capped;
  entry.method = known.step_energy.method;
  if (known.step_energy.systematic) {
    entry.systematic = *known.step_energy.systematic / known.step_energy.value;
  }
}

std::optional<SliceRequest> AdaptivePlan::next() {
  if (!pending_ && !done_) {
    pending_ = decide();
    done_ = !pending_;
  }
  return pending_;
}

void AdaptivePlan::measured(const Slice& slice) {
  Entry* entry = find(slice.setting);
  if (entry == nullptr || slice.measure == 0) {
    throw Error{ErrorKind::invalid_argument, "a slice was measured at a setting that was not requested",
                "measure the setting that next() requests"};
  }
  used_ += slice.measure + (pending_ ? pending_->settle : 0);
  pending_.reset();
  ++slices_;
  latest_ = static_cast<std::size_t>(entry - entries_.data());
  const std::size_t column = column_of(*entry, slice.reading.capped);
  const SliceReading& reading = slice.reading;
  const double steps = slice.measure;
  const double time_blur = reading.time_uncertainty / reading.time / records::normal_95;
  const double energy_blur = reading.energy.uncertainty / reading.energy.value / records::normal_95;
  DriftObservation observation{.setting = column,
                               .position = static_cast<double>(slice.begin) + 0.5 * steps,
                               .steps = std::min(steps, independent_steps),
                               .log_mean = portable::log(reading.time.value() / steps),
                               .deviation = time_blur};
  times_.add(observation);
  observation.log_mean = portable::log(reading.energy.value.value() / steps);
  observation.deviation = energy_blur;
  energies_.add(observation);
  times_.fit();
  energies_.fit();
  entry->method = entry->steps == 0 ? reading.energy.method : std::max(entry->method, reading.energy.method);
  entry->steps += slice.measure;
  if (reading.capped) {
    entry->capped = std::max(entry->capped.value_or(0.0), *reading.capped);
  }
  if (reading.energy.systematic) {
    entry->systematic = std::max(entry->systematic.value_or(0.0), *reading.energy.systematic / reading.energy.value);
  }
  length_.adapt(slice.measure, reading.time, std::max(time_blur, energy_blur));
}

void AdaptivePlan::refused(const records::PowerSetting& setting) {
  if (Entry* entry = find(setting)) {
    entry->refused = true;
    std::erase(pass_, static_cast<std::size_t>(entry - entries_.data()));
  }
  pending_.reset();
}

std::optional<SliceRequest> AdaptivePlan::decide() {
  const std::optional<std::size_t> entry = next_entry();
  if (!entry) {
    return std::nullopt;
  }
  const SliceRequest request{
      .setting = entries_[*entry].setting, .settle = length_.settle(), .measure = length_.measure()};
  const std::uint64_t most =
      options_.most_steps > 0
          ? options_.most_steps
          : steps_for_each_setting * static_cast<std::uint64_t>(std::ranges::count_if(entries_, [&](const Entry& e) {
              return e.knob == Knob::limit || e.knob == knob_;
            }));
  if (measured_any() && used_ + request.settle + request.measure > most) {
    return std::nullopt;
  }
  return request;
}

std::optional<std::size_t> AdaptivePlan::next_entry() {
  if (!measured_any()) {
    const auto first = std::ranges::find(entries_, false, &Entry::refused);
    return first == entries_.end() ? std::nullopt : std::optional{static_cast<std::size_t>(first - entries_.begin())};
  }
  choose_knob();
  const Outlook outlook = look();
  if (const auto down = step_down(outlook)) {
    return down;
  }
  return contender(outlook);
}

bool AdaptivePlan::held_by_its_limit(const Entry& entry) const {
  if (entry.capped) {
    return *entry.capped > capped_at_all;
  }
  const double power = portable::exp(energies_.level(*entry.column) - times_.level(*entry.column));
  return power > share_when_held * entry.setting.limit.value();
}

// If not even the lowest limit holds the GPU back, the plan uses clocks from then on.
void AdaptivePlan::choose_knob() {
  const auto allowed_limit = [](const Entry& e) { return e.knob == Knob::limit && !e.refused; };
  const auto lowest = std::ranges::find_if(entries_ | std::views::reverse, allowed_limit);
  if (entries_.back().knob == Knob::clock && lowest != entries_.rend() && lowest->column &&
      !held_by_its_limit(*lowest)) {
    knob_ = Knob::clock;
  }
}

std::vector<std::size_t> AdaptivePlan::ladder() const {
  std::vector<std::size_t> ladder;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool anchor = knob_ == Knob::clock && i == 0;
    if (anchor || (entries_[i].knob == knob_ && !entries_[i].refused)) {
      ladder.push_back(i);
    }
  }
  return ladder;
}

// The ladder's entries with the given logarithms of times and energies.
std::vector<Rung> AdaptivePlan::rungs(std::span<const std::size_t> ladder, std::span<const double> times,
                                      std::span<const double> energies) const {
  std::vector<Rung> rungs;
  rungs.reserve(ladder.size());
  for (const std::size_t i : ladder) {
    const Entry& entry = entries_[i];
    Rung rung{.height = entry.setting.limit.value(), .limit = entry.setting.limit};
    if (knob_ == Knob::clock) {
      rung.height = entry.setting.clock.value_or(0_MHz).value();
    }
    if (entry.column) {
      rung.capped = held_by_its_limit(entry);
      rung.step =
          records::LimitProfile{.limit = entry.setting.limit,
                                .epoch_time = Seconds{portable::exp(times[*entry.column])},
                                .average_power = Watts{portable::exp(energies[*entry.column] - times[*entry.column])}};
    }
    rungs.push_back(rung);
  }
  return rungs;
}

AdaptivePlan::Outlook AdaptivePlan::look() const {
  const std::vector<std::size_t> rung_entries = ladder();
  std::vector<double> times(times_.settings());
  std::vector<double> energies(energies_.settings());
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] = times_.level(i);
    energies[i] = energies_.level(i);
  }
  const std::vector<Rung> expected = rungs(rung_entries, times, energies);
  const records::PowerSetting chosen = *optimum();
  Outlook outlook{
      .choice = static_cast<std::size_t>(std::ranges::find(entries_, chosen, &Entry::setting) - entries_.begin()),
      .threats = std::vector<double>(entries_.size(), 0.0)};
  Random random{seed, slices_};
  for (int draw = 0; draw < draws; ++draw) {
    times_.draw(random, times);
    energies_.draw(random, energies);
    std::vector<Rung> drawn = expected;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (const auto column = entries_[rung_entries[i]].column) {
        drawn[i].step->epoch_time = Seconds{portable::exp(times[*column])};
        drawn[i].step->average_power = Watts{portable::exp(energies[*column] - times[*column])};
      }
    }
    if (const auto threat = winner(drawn, rung_entries, outlook.choice)) {
      outlook.threats[*threat] += 1.0 / draws;
    }
  }
  return outlook;
}

// The entry that the selector prefers to the choice, even after the choice's time is reduced by the tolerance and
// settings not yet measured are taken at their best case. Nothing if it keeps the choice.
std::optional<std::size_t> AdaptivePlan::winner(std::span<const Rung> drawn, std::span<const std::size_t> ladder,
                                                std::size_t choice) const {
  std::vector<records::LimitProfile> profiles;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto profile = drawn[i].step ? drawn[i].step : best_case(knob_, drawn, i);
    if (profile) {
      profiles.push_back(*profile);
      owners.push_back(ladder[i]);
      if (ladder[i] == choice) {
        profiles.back().epoch_time *= 1.0 - options_.tolerance;
      }
    }
  }
  const std::size_t selected = owners[select(selector_, profiles)];
  return selected == choice ? std::nullopt : std::optional{selected};
}

// The walk: the next setting below those measured, or one that it skipped on the way, while unmeasured settings can
// still win.
std::optional<std::size_t> AdaptivePlan::step_down(const Outlook& outlook) const {
  const std::vector<std::size_t> rung_entries = ladder();
  double threat = 0.0;
  std::size_t worst = 0;
  std::size_t lowest = 0;
  for (std::size_t i = 0; i < rung_entries.size(); ++i) {
    const std::size_t entry = rung_entries[i];
    if (entries_[entry].column) {
      lowest = i;
      continue;
    }
    threat += outlook.threats[entry];
    if (outlook.threats[entry] > outlook.threats[rung_entries[worst]] || entries_[rung_entries[worst]].column) {
      worst = i;
    }
  }
  const bool threatened = threat > 0.5 * (1.0 - options_.confidence);
  const bool goes_on = options_.may_end_soon && knob_ == Knob::limit && lowest + 1 < rung_entries.size();
  if (!threatened && !goes_on) {
    return std::nullopt;
  }
  if (threatened && worst < lowest) {
    return rung_entries[worst];
  }
  if (holds_nothing_back(entries_[rung_entries[lowest]], entries_[rung_entries.back()])) {
    return rung_entries.back();
  }
  const std::size_t stride = lowest == 0 && knob_ == Knob::clock
                                 ? 1
                                 : (rung_entries.size() + rungs_of_a_first_walk - 1) / rungs_of_a_first_walk;
  const std::size_t next = std::min(lowest + stride, rung_entries.size() - 1);
  return rung_entries[threatened ? std::min(worst, next) : next];
}

// If perhaps not even the lowest limit holds the GPU back, measuring that limit next spares all those between.
bool AdaptivePlan::holds_nothing_back(const Entry& known, const Entry& lowest) const {
  const double power = portable::exp(energies_.level(*known.column) - times_.level(*known.column));
  return knob_ == Knob::limit && !held_by_its_limit(known) && lowest.setting.limit.value() >= power;
}

std::optional<std::size_t> AdaptivePlan::contender(const Outlook& outlook) {
  double threat = 0.0;
  std::vector<std::size_t> contenders;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    threat += outlook.threats[i];
    const bool matters = i == outlook.choice || outlook.threats[i] > negligible_threat;
    if (entries_[i].column && !entries_[i].refused && matters && !is_known(entries_[i])) {
      contenders.push_back(i);
    }
  }
  if (threat <= 1.0 - options_.confidence || contenders.empty()) {
    return std::nullopt;
  }
  std::erase_if(pass_, [&](std::size_t i) { return std::ranges::find(contenders, i) == contenders.end(); });
  if (pass_.empty()) {
    // Each pass begins where the last one ended and goes the other way, so that drift averages out.
    pass_ = contenders;
    const std::size_t from = latest_.value_or(contenders.back());
    if (2 * from < contenders.front() + contenders.back()) {
      std::ranges::reverse(pass_);
    }
  }
  const std::size_t next = pass_.back();
  pass_.pop_back();
  return next;
}

bool AdaptivePlan::is_known(const Entry& entry) const {
  return times_.deviation(*entry.column) < options_.relative_error &&
         energies_.deviation(*entry.column) < options_.relative_error;
}

std::optional<records::PowerSetting> AdaptivePlan::optimum() const {
  return choose(selector_, measurements());
}

std::vector<records::PowerMeasurement> AdaptivePlan::measurements() const {
  std::vector<records::PowerMeasurement> result;
  for (const Entry& entry : entries_) {
    if (!entry.column || entry.refused) {
      continue;
    }
    const Seconds time{portable::exp(times_.level(*entry.column))};
    const Joules energy{portable::exp(energies_.level(*entry.column))};
    result.push_back({.setting = entry.setting,
                      .steps = entry.steps,
                      .step_time = time,
                      .step_time_uncertainty = time * (records::normal_95 * times_.deviation(*entry.column)),
                      .step_energy = {.value = energy,
                                      .uncertainty = energy * (records::normal_95 * energies_.deviation(*entry.column)),
                                      .systematic = std::nullopt,
                                      .method = entry.method},
                      .capped = entry.capped});
    if (entry.systematic) {
      result.back().step_energy.systematic = energy * *entry.systematic;
    }
  }
  return result;
}

}  // namespace zeus::optimize
