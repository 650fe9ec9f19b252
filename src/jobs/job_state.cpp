#include "jobs/job_state.hpp"

#include "jobs/redefinition.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::jobs {

namespace {

// The format of save(), apart from the policy's own.
constexpr int state_format = 10;
// Tries that are over are kept until there are twice as many.
constexpr std::size_t most_past_tries = 64;
// Lessons are kept until there are twice as many.
constexpr std::size_t most_lessons = 256;
// The batch size of a job that has none.
constexpr int only_batch_size = 1;

[[noreturn]] void refuse_entry(const records::JobEntry& entry, std::string_view why) {
  throw Error{ErrorKind::corrupt_data,
              fmt::format("entry {} of the job's history is not possible: {}", entry.sequence, why),
              "restore a backup of the store, or forget the job"};
}

void require(bool holds, const records::JobEntry& entry, std::string_view why) {
  if (!holds) {
    refuse_entry(entry, why);
  }
}

// The first fault of these devices; empty if there is none.
std::string_view fault_of(const records::JobDevice& device) {
  if (device.gpus == 0) {
    return "a job needs a GPU";
  }
  if (!std::isfinite(device.max_power.value()) || device.max_power <= Watts{}) {
    return "the devices' maximum power is not above 0";
  }
  if (device.power_limits.empty()) {
    return "the devices have no power limit";
  }
  const auto wrong = [](Watts limit) { return !std::isfinite(limit.value()) || limit <= Watts{}; };
  if (std::ranges::any_of(device.power_limits, wrong) || !std::ranges::is_sorted(device.power_limits)) {
    return "the devices' power limits are not ascending and above 0";
  }
  return {};
}

optimize::JobSpec spec_of(const records::JobDefinition& definition) {
  const bool any = !definition.batch_sizes.empty();
  return optimize::checked({.batch_sizes = any ? definition.batch_sizes : std::vector{only_batch_size},
                            .default_batch_size = any ? definition.default_batch_size : only_batch_size,
                            .power_limits = definition.device.power_limits,
                            .max_power = definition.device.max_power,
                            .max_epochs = definition.max_epochs,
                            .eta = definition.eta,
                            .beta = definition.beta,
                            .window = definition.window,
                            .seed = definition.seed,
                            .priors = {},
                            .zeus = definition.zeus.value_or(records::ZeusChoices{}),
                            .max_slowdown = definition.max_slowdown});
}

optimize::RecurringJob job_of(const records::JobDefinition& definition) {
  const optimize::JobSpec spec = spec_of(definition);
  return {spec, optimize::make_policy(definition.policy, spec)};
}

// What is computed from the GPUs of one report is recorded again as one energy, and has to fit in its range.
bool are_within_range(const std::vector<records::GpuEnergy>& gpus) {
  records::Energy whole{.systematic = Joules{}};
  for (const records::GpuEnergy& gpu : gpus) {
    whole = whole + gpu.energy;
  }
  const auto within = [](Joules energy) { return std::abs(energy.value()) <= field::most_joules; };
  return within(whole.value) && within(whole.uncertainty) && within(whole.systematic.value_or(Joules{}));
}

template <typename Body>
bool is_within_range(const Body& body) {
  if constexpr (requires { body.measured; }) {
    return are_within_range(body.measured.charged);
  } else if constexpr (requires { body.progress; }) {
    return are_within_range(body.progress.gpus);
  } else if constexpr (requires { body.result; }) {
    return are_within_range(body.result.progress.gpus);
  }
  return true;
}

bool is_possible(const records::JobDefinition& definition) {
  try {
    return normalized(definition) == definition;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

records::JobDefinition normalized(records::JobDefinition definition) {
  std::ranges::sort(definition.batch_sizes);
  std::ranges::sort(definition.device.power_limits);
  if (const std::string_view fault = fault_of(definition.device); !fault.empty()) {
    throw Error{ErrorKind::invalid_argument, std::string{fault}, "describe the devices as they are"};
  }
  if (definition.batch_sizes.empty()) {
    definition.default_batch_size = 0;
  }
  if (definition.zeus == records::ZeusChoices{}) {
    definition.zeus.reset();
  }
  static_cast<void>(job_of(definition));
  std::string out_of_range;
  try {
    static_cast<void>(records::job_definition_from_json(to_json(definition)));
    return definition;
  } catch (const Error& error) {
    out_of_range = error.message();
  }
  throw Error{ErrorKind::invalid_argument, out_of_range, "give a value in that range"};
}

JobState::JobState(const records::JobDefinition& definition, LeftOut left_out)
    : definition_{definition},
      job_{job_of(definition)},
      snapshot_key_{fmt::format("{} {}, format {}", job_.policy().name(), job_.policy().version(), state_format)},
      device_{definition.device},
      earlier_{definition},
      left_out_{std::move(left_out)} {
}

const std::string* JobState::why_left_out(std::uint64_t recurrence) const {
  const auto place = left_out_.find(recurrence);
  return place == left_out_.end() ? nullptr : &place->second;
}

const OpenRecurrence* JobState::find(std::uint64_t recurrence) const {
  const auto place = std::ranges::find(open_, recurrence, &OpenRecurrence::number);
  return place == open_.end() ? nullptr : &*place;
}

const OpenRecurrence* JobState::find_running(std::uint64_t try_number) const {
  const auto place = std::ranges::find_if(
      open_, [try_number](const OpenRecurrence& one) { return one.running && one.running->number == try_number; });
  return place == open_.end() ? nullptr : &*place;
}

const PastTry* JobState::find_past(std::uint64_t try_number) const {
  const auto place = std::ranges::find(past_, try_number, [](const PastTry& past) { return past.last.number; });
  return place == past_.end() ? nullptr : &*place;
}

OpenRecurrence& JobState::open(std::uint64_t recurrence) {
  return *std::ranges::find(open_, recurrence, &OpenRecurrence::number);
}

void JobState::close(std::uint64_t recurrence) {
  std::erase_if(open_, [recurrence](const OpenRecurrence& other) { return other.number == recurrence; });
}

// Whether a recurrence runs on the job's current devices, so that its costs are comparable.
bool JobState::here(std::uint64_t recurrence) const {
  const OpenRecurrence* const known = find(recurrence);
  return known != nullptr && known->device == device_;
}

// Checks an entry before it changes anything: a history may come from a file that was edited by hand.
void JobState::check(const records::JobEntry& entry) const {
  if (entry.sequence != sequence_ + 1) {
    refuse_entry(entry, fmt::format("it comes after entry {}", sequence_));
  }
  const auto known_size = [this, &entry](int batch_size) {
    require(std::ranges::binary_search(job_.spec().batch_sizes, batch_size), entry,
            "its batch size is not one of the job's");
  };
  const auto is_open = [this, &entry](std::uint64_t recurrence) -> const OpenRecurrence& {
    const OpenRecurrence* const known = find(recurrence);
    require(known != nullptr, entry, "its recurrence is over, or never began");
    return *known;
  };
  const auto is_running = [&](std::uint64_t recurrence, std::uint64_t number) -> const RunningTry& {
    const OpenRecurrence& known = is_open(recurrence);
    require(known.running && known.running->number == number, entry, "its try is not running");
    return *known.running;
  };
  if (const auto* begun = std::get_if<records::RecurrenceBegun>(&entry.body)) {
    require(begun->recurrence == recurrences_, entry, "its recurrence is not the next one");
    require(fault_of(begun->device).empty(), entry, fault_of(begun->device));
  } else if (const auto* started = std::get_if<records::TryStarted>(&entry.body)) {
    require(!is_open(started->event.recurrence).running, entry, "another try of its recurrence is running");
    require(started->event.try_number == tries_, entry, "its try is not the next one");
    known_size(started->event.plan.batch_size);
  } else if (const auto* profiled = std::get_if<records::ProfileTaken>(&entry.body)) {
    static_cast<void>(is_open(profiled->recurrence));
    known_size(profiled->measured.batch_size);
  } else if (const auto* run = std::get_if<records::EpochsRun>(&entry.body)) {
    static_cast<void>(is_running(run->recurrence, run->try_number));
  } else if (const auto* finished = std::get_if<records::TryFinished>(&entry.body)) {
    const RunningTry& running = is_running(finished->recurrence, finished->try_number);
    require(running.batch_size == finished->batch_size, entry, "its try has another batch size");
  } else if (const auto* given_up = std::get_if<records::RecurrenceGivenUp>(&entry.body)) {
    require(!is_open(given_up->recurrence).running, entry, "a try of its recurrence is running");
  } else if (const auto* moved = std::get_if<records::DeviceMoved>(&entry.body)) {
    require(fault_of(moved->device).empty(), entry, fault_of(moved->device));
  } else if (const auto* redefined = std::get_if<records::JobRedefined>(&entry.body)) {
    require(open_.empty(), entry, "a recurrence is running");
    require(is_possible(redefined->definition), entry, "its definition is not possible");
  } else if (const auto* late = std::get_if<records::LateReport>(&entry.body)) {
    const PastTry* const past = find_past(late->try_number);
    require(past != nullptr && past->recurrence == late->recurrence && past->outcome == records::TryOutcome::lost,
            entry, "its try was not lost, or ended too long ago");
  } else if (const auto* left_out = std::get_if<records::RecurrenceLeftOut>(&entry.body)) {
    require(left_out->recurrence < recurrences_ && find(left_out->recurrence) == nullptr, entry,
            "its recurrence is running, or never began");
    require(!left_out_on_record_.contains(left_out->recurrence), entry, "its recurrence was left out before");
  }
  require(std::visit([](const auto& body) { return is_within_range(body); }, entry.body), entry,
          "the energy of its GPUs together is beyond any real one");
}

void JobState::apply(const records::JobEntry& entry) {
  check(entry);
  std::visit([this](const auto& body) { take(body); }, entry.body);
  keep_lesson(entry.body);
  sequence_ = entry.sequence;
  note_life(entry);
}

void JobState::note_life(const records::JobEntry& entry) {
  const std::optional<std::uint64_t> about = std::visit(
      [](const auto& body) -> std::optional<std::uint64_t> {
        if constexpr (requires { body.event.recurrence; }) {
          return body.event.recurrence;
        } else if constexpr (requires { body.recurrence; }) {
          return body.recurrence;
        } else {
          return std::nullopt;
        }
      },
      entry.body);
  const auto known = std::ranges::find_if(open_, [about](const OpenRecurrence& one) { return one.number == about; });
  if (known != open_.end()) {
    known->last_entry = entry.sequence;
  }
}

// Drops what teaches nothing: the owner, and the energy of each GPU.
void JobState::keep_lesson(const records::JobEntryBody& body) {
  if (std::holds_alternative<records::EpochsRun>(body) || std::holds_alternative<records::LateReport>(body) ||
      std::holds_alternative<records::RecurrenceLeftOut>(body)) {
    return;
  }
  records::JobEntryBody& kept = lessons_.emplace_back(body);
  if (auto* const begun = std::get_if<records::RecurrenceBegun>(&kept)) {
    begun->owner = {};
  } else if (auto* const profiled = std::get_if<records::ProfileTaken>(&kept)) {
    profiled->measured.charged.clear();
  } else if (auto* const finished = std::get_if<records::TryFinished>(&kept)) {
    finished->result.progress.gpus.clear();
  }
  if (lessons_.size() < 2 * most_lessons) {
    return;
  }
  const auto forgotten = lessons_.begin() + most_lessons;
  for (auto lesson = lessons_.begin(); lesson != forgotten; ++lesson) {
    if (const auto* const moved = std::get_if<records::DeviceMoved>(&*lesson)) {
      earlier_.device = moved->device;
    } else if (const auto* const redefined = std::get_if<records::JobRedefined>(&*lesson)) {
      const records::JobDevice device = std::exchange(earlier_, redefined->definition).device;
      earlier_.device = device;
    }
  }
  lessons_.erase(lessons_.begin(), forgotten);
}

// The lessons may begin in the middle of a recurrence, which then teaches nothing.
void JobState::learn(const records::JobEntryBody& lesson) {
  const auto is_open = [this](std::uint64_t recurrence) { return find(recurrence) != nullptr; };
  if (const auto* begun = std::get_if<records::RecurrenceBegun>(&lesson)) {
    take(*begun);
  } else if (const auto* started = std::get_if<records::TryStarted>(&lesson)) {
    if (is_open(started->event.recurrence)) {
      take(*started);
    }
  } else if (const auto* profiled = std::get_if<records::ProfileTaken>(&lesson)) {
    if (is_open(profiled->recurrence)) {
      take(*profiled);
    }
  } else if (const auto* finished = std::get_if<records::TryFinished>(&lesson)) {
    const OpenRecurrence* const known = find(finished->recurrence);
    if (known != nullptr && known->running && known->running->number == finished->try_number) {
      take(*finished);
    }
  } else if (const auto* given_up = std::get_if<records::RecurrenceGivenUp>(&lesson)) {
    if (is_open(given_up->recurrence)) {
      take(*given_up);
    }
  } else if (const auto* moved = std::get_if<records::DeviceMoved>(&lesson)) {
    take(*moved);
  }
}

void JobState::learn_from(const JobState& former) {
  const bool measures_alike = same_epochs(former.definition_, definition_);
  if (measures_alike) {
    books_ = former.books_;
    recall();
  }
  records::JobDefinition then = former.earlier_;
  bool reached = false;  // whether any would reach under this definition
  for (const records::JobEntryBody& lesson : former.lessons_) {
    if (const auto* const redefined = std::get_if<records::JobRedefined>(&lesson)) {
      then = redefined->definition;
    } else if (const auto still = still_true(lesson, then, definition_)) {
      const auto* const finished = std::get_if<records::TryFinished>(&lesson);
      reached = reached || (finished != nullptr && records::reached(finished->result.outcome) &&
                            std::get<records::TryFinished>(*still).result.left_out == finished->result.left_out);
      learn(*still);
    }
  }
  ever_reached_ = reached;
  // The recurrences left over ended with a batch size that is gone.
  while (!open_.empty()) {
    take(records::RecurrenceGivenUp{.recurrence = open_.front().number, .reason = {}});
  }
  if (measures_alike) {
    books_ = former.books_;
    recall();
  }
}

// Learns from the entries so far under the new definition. Nothing is lost for good: if the job returns to its old
// definition, they teach as before.
void JobState::take(const records::JobRedefined& redefined) {
  records::JobDefinition now = redefined.definition;
  now.device = earlier_.device;
  JobState anew{now, left_out_};
  anew.learn_from(*this);
  definition_ = redefined.definition;
  ever_reached_ = anew.ever_reached_;
  job_ = std::move(anew.job_);
  books_ = std::move(anew.books_);
}

void JobState::take(const records::RecurrenceBegun& begun) {
  open_.push_back({.number = begun.recurrence,
                   .owner = begun.owner,
                   .device = begun.device,
                   .running = {},
                   .missed = {},
                   .user = begun.user,
                   .lease = begun.lease});
  ++recurrences_;
}

void JobState::take(const records::TryStarted& started) {
  OpenRecurrence& current = open(started.event.recurrence);
  ++current.tries;
  current.running = RunningTry{.number = started.event.try_number,
                               .batch_size = started.event.plan.batch_size,
                               .max_epochs = started.event.plan.max_epochs,
                               .budget = started.event.plan.budget,
                               .costs = {}};
  ++tries_;
  job_.apply(started.event);
}

void JobState::take(const records::ProfileTaken& profiled) {
  if (why_left_out(profiled.recurrence) != nullptr) {
    return;
  }
  remember(find(profiled.recurrence)->device, profiled.measured);
  if (here(profiled.recurrence)) {
    job_.apply(profiled.event());
  }
}

void JobState::take(const records::EpochsRun& run) {
  OpenRecurrence& current = open(run.recurrence);
  follow(run.recurrence, *current.running, run.progress, current.device.max_power);
}

// Its epochs make leases longer, and repeated questions get the same answer. Nothing else depends on it.
void JobState::take(const records::LateReport& late) {
  PastTry& past = *std::ranges::find(past_, late.try_number, [](const PastTry& one) { return one.last.number; });
  follow(late.recurrence, past.last, late.progress, past.max_power);
  past.told = late.outcome;
}

void JobState::follow(std::uint64_t recurrence, RunningTry& training, const records::TryProgress& now,
                      Watts max_power) {
  note_epochs(recurrence, training, now.epochs, now.time);
  training.epochs = now.epochs;
  training.time = now.time;
  training.energy = Joules{};
  training.uncertainty = Joules{};
  for (const records::GpuEnergy& gpu : now.gpus) {
    training.energy += gpu.energy.value;
    training.uncertainty += gpu.energy.uncertainty;  // all of which GPUs may share
  }
  training.costs.over(now.epochs, cost_on(max_power, training.energy, now.time));
}

void JobState::note_epochs(std::uint64_t recurrence, const RunningTry& before, int epochs, Seconds time) {
  if (epochs > before.epochs && why_left_out(recurrence) == nullptr) {
    const Seconds one = (time - before.time) / static_cast<double>(epochs - before.epochs);
    longest_epoch_ = std::max(longest_epoch_.value_or(one), one);
  }
}

Joules JobState::cost_on(Watts max_power, Joules energy, Seconds time) const {
  return optimize::EnergyTimeCost{definition_.eta, max_power}.of(energy, time);
}

// A try on devices other than the current ones, and one that is left out, end as lost: they must not teach. If such a
// try reached its target, its recurrence is over all the same.
void JobState::take(const records::TryFinished& finished) {
  records::TryEnded event = finished.event();
  const std::optional<records::WholeEpochs>& whole = finished.result.whole_epochs;
  const bool over = reached(event.outcome);
  const bool counts = !finished.result.left_out && why_left_out(event.recurrence) == nullptr && here(event.recurrence);
  if (!counts) {
    event.outcome = records::TryOutcome::lost;
  }
  // If no epochs are reported, the whole training counts as one, and its length may be luck: its limits keep the values
  // from slices.
  const bool tells_epochs = definition_.target || event.epochs > 1;
  if (counts && tells_epochs && whole && std::ranges::binary_search(device_.power_limits, whole->limit)) {
    follow(event.batch_size, *whole);
  }
  if (counts && whole && whole->start_time && whole->start_energy) {
    job_.apply(records::StartSeen{.energy = *whole->start_energy, .time = *whole->start_time});
  }
  if (reached(event.outcome)) {
    page(device_, event.batch_size).run_time = event.time;
  }
  job_.apply(event);
  if (over && !reached(event.outcome)) {
    job_.apply(records::RecurrenceAbandoned{.recurrence = event.recurrence});
  }
  ever_reached_ = ever_reached_ || over;
  OpenRecurrence& current = open(event.recurrence);
  note_epochs(event.recurrence, *current.running, event.epochs, event.time);
  if (past_.size() == 2 * most_past_tries) {
    past_.erase(past_.begin(), past_.begin() + most_past_tries);
  }
  past_.push_back({.last = *current.running,
                   .recurrence = event.recurrence,
                   .user = current.user,
                   .max_power = current.device.max_power,
                   .outcome = finished.result.outcome,
                   .told = {}});
  if (over) {
    close(event.recurrence);
    return;
  }
  current.running.reset();
  if (finished.result.outcome != records::TryOutcome::lost) {
    current.missed.push_back(event.batch_size);
  }
}

void JobState::follow(int batch_size, const records::WholeEpochs& whole) {
  job_.apply(records::EpochSeen{.batch_size = batch_size,
                                .limit = whole.limit,
                                .epoch_time = whole.mean_time(),
                                .average_power = whole.energy / whole.time});
  const auto limits = job_.profiles().limits(job_.spec().arm_of(batch_size));
  page(device_, batch_size).limits.assign(limits.begin(), limits.end());
}

void JobState::take(const records::RecurrenceGivenUp& given_up) {
  job_.apply(records::RecurrenceAbandoned{.recurrence = given_up.recurrence});
  close(given_up.recurrence);
}

// The entries before it have been learned from already: the history has to be folded again.
void JobState::take(const records::RecurrenceLeftOut& left_out) {
  left_out_on_record_.emplace(left_out.recurrence, left_out.reason);
}

// What was measured on these devices before still holds.
void JobState::take(const records::DeviceMoved& moved) {
  device_ = moved.device;
  job_.apply(records::DeviceChanged{
      .model = to_text(moved.device), .max_power = moved.device.max_power, .power_limits = moved.device.power_limits});
  recall();
}

// Restores what was measured on these devices for the job's batch sizes.
void JobState::recall() {
  const auto book = std::ranges::find(books_, device_, &Book::device);
  if (book == books_.end()) {
    return;
  }
  for (const Page& page : book->pages) {
    if (!page.limits.empty() && std::ranges::binary_search(job_.spec().batch_sizes, page.batch_size)) {
      job_.apply(records::LimitsProfiled{
          .recurrence = 0, .batch_size = page.batch_size, .limits = page.limits, .energy = {}, .time = {}});
    }
  }
}

JobState::Page& JobState::page(const records::JobDevice& device, int batch_size) {
  auto book = std::ranges::find(books_, device, &Book::device);
  if (book == books_.end()) {
    book = books_.insert(book, Book{.device = device, .pages = {}});
  }
  auto page = std::ranges::find(book->pages, batch_size, &Page::batch_size);
  if (page == book->pages.end()) {
    page = book->pages.insert(page, Page{.batch_size = batch_size, .limits = {}, .run_time = {}});
  }
  return *page;
}

void JobState::remember(const records::JobDevice& device, const records::LimitsMeasured& measured) {
  records::merge(page(device, measured.batch_size).limits, measured.limits);
}

const JobState::Page* JobState::find_page(const records::JobDevice& device, int batch_size) const {
  const auto book = std::ranges::find(books_, device, &Book::device);
  if (book == books_.end()) {
    return nullptr;
  }
  const auto page = std::ranges::find(book->pages, batch_size, &Page::batch_size);
  return page == book->pages.end() ? nullptr : &*page;
}

std::vector<records::LimitProfile> JobState::limits(const records::JobDevice& device, int batch_size) const {
  const Page* const page = find_page(device, batch_size);
  return page == nullptr ? std::vector<records::LimitProfile>{} : page->limits;
}

std::optional<Seconds> JobState::run_time(int batch_size) const {
  const Page* const page = find_page(device_, batch_size);
  return page == nullptr ? std::nullopt : page->run_time;
}

std::string JobState::snapshot_key() const {
  return snapshot_key_;
}

std::string JobState::save() const {
  StateWriter writer;
  writer(definition_, job_.policy().version(), *this);
  job_.save(writer);
  return sealed(writer.take());
}

void JobState::restore(std::string_view text) {
  StateReader reader{unsealed(text)};
  int version = 0;
  reader(definition_, version);
  job_ = job_of(definition_);
  if (version == job_.policy().version()) {
    reader(*this);
    job_.restore(reader);
  }
  if (!reader.done()) {
    throw Error{ErrorKind::corrupt_data, "this is not the state of such a job"};
  }
}

}  // namespace zeus::jobs
