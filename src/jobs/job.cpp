#include "jobs/job.hpp"

#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "jobs/explanation.hpp"
#include "jobs/job_impl.hpp"
#include "jobs/redefinition.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace zeus::jobs {

namespace {

// The most entries that a request makes, up to the one that answers it.
constexpr std::size_t most_entries_of_a_request = 64;
// An owner that cannot be checked directly is dead after this much silence, by the clock of the process that waits,
// unless it asked for another lease.
constexpr Seconds usual_lease{120.0};
// An owner with a longer lease sends no beats but reports epochs: its lease is at least this many of the longest
// epochs.
constexpr double epochs_of_a_lease = 10.0;
// Looking for the beats of owners elsewhere is a transaction of its own; leases are longer than this by far.
constexpr Seconds between_looks_elsewhere{1.0};

Seconds lease_of(const OpenRecurrence& open, const JobState& state) {
  const Seconds lease = open.lease.value_or(usual_lease);
  const bool beats = lease <= usual_lease;
  return beats ? lease : std::max(lease, state.longest_epoch().value_or(Seconds{}) * epochs_of_a_lease);
}

// "zeus jobs nightly redefine --set 'eta = 0.7'", or with --file if a change cannot be given as a setting.
std::string redefining(const std::string& name, const std::vector<records::DefinitionChange>& changes) {
  std::string command = fmt::format("zeus jobs {} redefine", shell_word(name));
  const auto silent = [](const records::DefinitionChange& change) { return change.setting.empty(); };
  if (std::ranges::any_of(changes, silent)) {
    return command + " --file FILE";
  }
  for (const records::DefinitionChange& change : changes) {
    for (std::string_view rest = change.setting; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      command += " --set " + shell_word(std::string{rest.substr(0, end)});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return command;
}

Error no_recurrence(std::uint64_t recurrence, const std::string& job) {
  return {ErrorKind::not_found, fmt::format("no recurrence {} of the job '{}' has begun", recurrence + 1, job),
          "`zeus jobs NAME` shows those that have"};
}

void check_same(const std::string& name, const records::JobDefinition& kept, const records::JobDefinition& asked) {
  const std::vector<records::DefinitionChange> changes = differences(kept, asked);
  if (changes.empty()) {
    return;
  }
  std::vector<std::string_view> sentences;
  std::vector<std::string> follows;
  for (const records::DefinitionChange& change : changes) {
    sentences.emplace_back(change.sentence);
    follows.push_back(fmt::format("{}: {}", change.key, what_follows(change.key)));
  }
  throw Error{
      ErrorKind::conflict, fmt::format("the job '{}' was defined differently: {}", name, fmt::join(sentences, "; ")),
      fmt::format("`{}`, with the same --store or --server, gives it this definition ({}); or run it as it was, choose "
                  "another name, or start over with `zeus jobs {} forget`",
                  redefining(name, changes), fmt::join(follows, "; "), shell_word(name))};
}

// A store whose parts contradict one another refuses to append without anyone else having appended.
constexpr int most_vain_appends = 3;

}  // namespace

UnreadableJob::UnreadableJob(std::string_view store, std::string_view job, std::string_view why)
    : Error{ErrorKind::corrupt_data, fmt::format("the job '{}' in the store {} cannot be read: {}", job, store, why),
            fmt::format("restore a backup of the store, or forget the job with `zeus jobs {} forget`",
                        shell_word(std::string{job}))},
      why_{why} {
}

void check_name(std::string_view name) {
  const bool is_blank = name.find_first_not_of(' ') == std::string_view::npos;
  // Clients take these out of an address.
  const bool is_a_step = name == "." || name == "..";
  if (is_blank || is_a_step || name.size() > longest_job_name || printable(name) != name) {
    throw Error{ErrorKind::invalid_argument, "this cannot be the name of a job",
                fmt::format("choose one of 1 to {} printable characters, other than '.' and '..'", longest_job_name)};
  }
}

Site this_site(Clock& clock, const FileTree& machine) {
  return {.clock = clock,
          .machine = machine,
          .owner = {.host = machine.read_line("proc/sys/kernel/hostname").value_or(""),
                    .place = place_of(machine),
                    .process = this_holder(machine)}};
}

records::TryFinished lost(const OpenRecurrence& open) {
  return {.try_number = open.running->number,
          .recurrence = open.number,
          .batch_size = open.running->batch_size,
          .energy = std::max(open.running->energy, Joules{}),
          .result = {.outcome = records::TryOutcome::lost,
                     .progress = {.epochs = open.running->epochs, .time = open.running->time}}};
}

std::vector<records::JobEntryBody> ending(const OpenRecurrence& open, const std::string& reason) {
  std::vector<records::JobEntryBody> bodies;
  if (open.running) {
    bodies.emplace_back(lost(open));
  }
  bodies.emplace_back(records::RecurrenceGivenUp{.recurrence = open.number, .reason = reason});
  return bodies;
}

std::vector<records::JobEntryBody> beginning_of(const JobState& state, const records::JobDevice& device,
                                                const Beginning& beginning) {
  records::JobDevice sorted = device;
  std::ranges::sort(sorted.power_limits);
  std::vector<records::JobEntryBody> bodies;
  if (sorted != state.device()) {
    bodies.emplace_back(records::DeviceMoved{.device = sorted});
  }
  bodies.emplace_back(records::RecurrenceBegun{.recurrence = state.recurrences(),
                                               .owner = beginning.owner,
                                               .device = sorted,
                                               .user = beginning.user,
                                               .lease = beginning.lease});
  return bodies;
}

void Job::Impl::append(const Decide& decide) {
  append({}, decide, {});
}

records::JobDefinition Job::Impl::definition_before(std::uint64_t sequence) const {
  records::JobDefinition definition = stored.definition;
  for (const records::JobEntry& entry : store->entries(stored.id, 0, sequence - 1)) {
    if (const auto* const redefined = std::get_if<records::JobRedefined>(&entry.body)) {
      definition = redefined->definition;
    }
  }
  return definition;
}

bool Job::Impl::repeated(const Request& request, const Repeat& repeat) const {
  if (request.key.empty()) {
    return false;
  }
  const std::optional<store::FoundRequest> found = store->find_request(stored.id, request.key);
  if (!found) {
    return false;
  }
  if (found->asked != request.asked) {
    throw store::key_of_another_request();
  }
  repeat(store->entries(stored.id, found->sequence - 1, most_entries_of_a_request));
  return true;
}

void Job::Impl::append(const Request& request, const Decide& decide, const Repeat& repeat) {
  std::uint64_t read = 0;
  for (int vain = 0;; ++vain) {
    refresh();
    if (std::exchange(read, state().sequence()) != state().sequence()) {
      vain = 0;
    } else if (vain == most_vain_appends) {
      throw UnreadableJob{store->location(), stored.name,
                          fmt::format("the store counts other entries of its history than the {} that can be read",
                                      state().sequence())};
    }
    if (repeated(request, repeat)) {
      return;
    }
    const std::vector<records::JobEntryBody> bodies = decide(state());
    if (bodies.empty()) {
      return;
    }
    const WallTime now = site.clock.wall();
    if (known().has_changed_all_days() && has_summary_kept()) {
      // The job was opened from the store, which has all of its days.
      static_cast<void>(known().take_changed_days());
    }
    // Entries that could not be read back, or that cannot follow, must not be written.
    auto after = std::make_unique<JobAccount>(known());
    try {
      for (const records::JobEntryBody& body : bodies) {
        after->apply({.sequence = after->state().sequence() + 1,
                      .written = now,
                      .body = records::job_entry_body_from_json(records::to_json(body))});
      }
    } catch (const Error& error) {
      throw Error{ErrorKind::invalid_argument, fmt::format("this cannot be recorded: {}", error.message()),
                  "report what happened, in its order"};
    }
    const bool weighs_alike = after->is_up_to_date();
    store::Attached attached{.request = request, .summary = {}};
    if (weighs_alike) {
      attached.summary = summary_row(*after);
    }
    if (store->append(stored.id, state().sequence(), bodies, now, attached)) {
      const std::uint64_t before = state().sequence();
      account_ = std::move(after);
      if (weighs_alike) {
        summarized_ = state().sequence();
      } else {
        weigh_anew();
        keep_summary();
      }
      keep_checkpoint_since(before);
      return;
    }
  }
}

// A process of this place is checked directly. Any other is dead if its beats and entries have stood still for a lease,
// by this place's own monotonic clock, so that no two clocks are compared.
std::vector<std::pair<const OpenRecurrence*, std::string>> Job::Impl::find_the_dead() {
  std::vector<std::pair<const OpenRecurrence*, std::string>> dead;
  std::vector<const OpenRecurrence*> elsewhere;
  for (const OpenRecurrence& open : state().open()) {
    const records::JobOwner& owner = open.owner;
    if (site.owner.place.empty() || owner == site.owner) {
      continue;
    }
    if (owner.place == site.owner.place) {
      const std::optional<Holder> holder = find_holder(site.machine, owner.process.pid);
      if (!holder || (owner.process.started != 0 && holder->started != owner.process.started)) {
        dead.emplace_back(&open, fmt::format("{} is gone", to_text(owner.process)));
      }
      continue;
    }
    elsewhere.push_back(&open);
  }
  const Instant now = site.clock.now();
  if (elsewhere.empty()) {
    return dead;
  }
  // The silence of a new recurrence is counted from the first look at it.
  const bool all_seen = looked_elsewhere_ && seen_elsewhere_ == elsewhere.back()->number;
  if (all_seen && now - *looked_elsewhere_ < between_looks_elsewhere) {
    return dead;
  }
  looked_elsewhere_ = now;
  seen_elsewhere_ = elsewhere.back()->number;
  const std::map<std::uint64_t, std::uint64_t> beats = store->beats(stored.id);
  std::vector<store::Sign> signs;
  for (const OpenRecurrence* const open : elsewhere) {
    const auto beat = beats.find(open->number);
    signs.push_back({.recurrence = open->number, .count = open->last_entry + (beat == beats.end() ? 0 : beat->second)});
  }
  const std::vector<Instant> since = store->sight(stored.id, site.owner.place, signs, now);
  for (std::size_t i = 0; i < elsewhere.size(); ++i) {
    const Seconds silence = now - since[i];
    if (silence > lease_of(*elsewhere[i], state())) {
      const records::JobOwner& owner = elsewhere[i]->owner;
      dead.emplace_back(elsewhere[i], fmt::format("nothing was heard from {} on {} for {:.0f} s",
                                                  to_text(owner.process), owner.host, silence.value()));
    }
  }
  return dead;
}

std::size_t Job::Impl::give_up_the_dead() {
  std::size_t given_up = 0;
  append([&](const JobState&) {
    std::vector<records::JobEntryBody> bodies;
    const auto dead = find_the_dead();
    given_up = dead.size();
    for (const auto& [open, reason] : dead) {
      std::ranges::move(ending(*open, reason), std::back_inserter(bodies));
    }
    return bodies;
  });
  return given_up;
}

Job::Job(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {
}
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;
Job::~Job() = default;

Job Job::open(store::JobStore& store, const Site& site, std::string_view name, const records::JobDefinition& definition,
              const store::JobOrigin& origin) {
  // Jobs with names that are refused now can still be opened.
  if (!reading(store, name, [&] { return store.find(name); })) {
    check_name(name);
  }
  const records::JobDefinition asked = normalized(definition);
  auto impl = std::make_unique<Impl>(
      store, site, reading(store, name, [&] { return store.find_or_create(name, asked, site.clock.wall(), origin); }));
  impl->refresh();
  check_same(impl->stored.name, impl->state().definition(), asked);
  return Job{std::move(impl)};
}

std::optional<Job> Job::find(store::JobStore& store, const Site& site, std::string_view name) {
  std::optional<store::StoredJob> stored = reading(store, name, [&] { return store.find(name); });
  if (!stored) {
    return std::nullopt;
  }
  return Job{std::make_unique<Impl>(store, site, std::move(*stored))};
}

std::vector<records::DefinitionChange> Job::redefine(const records::JobDefinition& definition, const Request& request) {
  const records::JobDefinition asked = normalized(definition);
  give_up_the_dead();
  std::vector<records::DefinitionChange> changes;
  impl_->append(
      request,
      [&](const JobState& state) {
        std::vector<records::JobEntryBody> bodies;
        changes = differences(state.definition(), asked);
        const bool rate_told = asked.learning_rate && !state.definition().learning_rate;
        if (changes.empty() && !rate_told) {
          return bodies;
        }
        if (!state.open().empty()) {
          throw Error{ErrorKind::conflict,
                      fmt::format("{} is running the job '{}'", to_text(state.open().front().owner.process), name()),
                      "redefine it when that has ended"};
        }
        bodies.emplace_back(records::JobRedefined{.definition = asked});
        return bodies;
      },
      [&](std::span<const records::JobEntry> made) {
        changes = differences(impl_->definition_before(made.front().sequence), asked);
      });
  return changes;
}

void Job::leave_out(std::uint64_t recurrence, const std::string& reason, const Request& request) {
  impl_->append(
      request,
      [&](const JobState& state) {
        std::vector<records::JobEntryBody> bodies;
        if (recurrence >= state.recurrences()) {
          throw no_recurrence(recurrence, name());
        }
        if (state.find(recurrence) != nullptr) {
          throw Error{ErrorKind::conflict, fmt::format("recurrence {} is running", recurrence + 1),
                      "leave it out when it has ended"};
        }
        if (!state.left_out_on_record().contains(recurrence)) {
          bodies.emplace_back(records::RecurrenceLeftOut{.recurrence = recurrence, .reason = reason});
        }
        return bodies;
      },
      [](std::span<const records::JobEntry> /*made*/) {});
}

store::JobId Job::id() const {
  return impl_->stored.id;
}

const std::string& Job::name() const {
  return impl_->stored.name;
}

std::size_t Job::bytes() const {
  // Beliefs and what is shown, and the entries to learn from again. Measured, with some room.
  constexpr std::size_t without_lessons = std::size_t{64} * 1024;
  constexpr std::size_t of_a_lesson = 1024;
  return without_lessons + impl_->state().lessons() * of_a_lesson;
}

void Job::refresh() {
  impl_->refresh();
}

const records::JobDefinition& Job::definition() const {
  return impl_->state().definition();
}

const optimize::JobSpec& Job::spec() const {
  return impl_->state().job().spec();
}

Recurrence Job::begin(const records::JobDevice& device) {
  return {*impl_, begun(device, {.owner = impl_->site.owner, .user = {}, .lease = {}, .request = {}}), false};
}

Recurrence Job::begin(const records::JobDevice& device, const Beginning& beginning) {
  return {*impl_, begun(device, beginning), true};
}

std::uint64_t Job::begun(const records::JobDevice& device, const Beginning& beginning) {
  impl_->give_up_the_dead();
  std::uint64_t number = 0;
  impl_->append(
      beginning.request,
      [&](const JobState& state) {
        number = state.recurrences();
        return beginning_of(state, device, beginning);
      },
      [&](std::span<const records::JobEntry> made) { number = first<records::RecurrenceBegun>(made).recurrence; });
  return number;
}

Recurrence Job::resume(std::uint64_t recurrence, const Request& request) {
  impl_->refresh();
  if (recurrence >= impl_->state().recurrences()) {
    throw no_recurrence(recurrence, name());
  }
  Recurrence resumed{*impl_, recurrence, true};
  resumed.ask_by(request);
  return resumed;
}

std::span<const OpenRecurrence> Job::open_recurrences() const {
  return impl_->state().open();
}

std::size_t Job::give_up_the_dead() {
  return impl_->give_up_the_dead();
}

std::vector<records::LimitProfile> Job::limits(int batch_size) const {
  return impl_->state().limits(impl_->state().device(), batch_size);
}

std::optional<Seconds> Job::run_time(int batch_size) const {
  return impl_->state().run_time(batch_size);
}

Joules Job::cost(Joules energy, Seconds time) const {
  return impl_->state().job().profiles().cost().of(energy, time);
}

std::uint64_t Job::seed_of_next_try() {
  impl_->refresh();
  return seed_of_try(impl_->state(), impl_->state().tries());
}

optimize::Action Job::preview() {
  impl_->refresh();
  return impl_->state().job().next(impl_->state().recurrences(), impl_->state().tries());
}

}  // namespace zeus::jobs
