// The internals of an open job, for the files of this module. One thread at a time.
#pragma once

#include "jobs/job.hpp"
#include "jobs/job_account.hpp"
#include "jobs/job_state.hpp"

#include <zeus/error.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::jobs {

// Runs `work` on a job of this store. What shows that the job cannot be read becomes an UnreadableJob.
template <typename Work>
auto reading(const store::JobStore& store, std::string_view job, Work work) {
  std::string why;
  try {
    return work();
  } catch (const UnreadableJob&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt_data) {
      throw;
    }
    why = error.message();
  }
  throw UnreadableJob{store.location(), job, why};
}

struct Job::Impl {
  Impl(store::JobStore& where, Site who, store::StoredJob what);

  // The state after the history read so far.
  [[nodiscard]] const JobState& state() const { return account_ ? account_->state() : *decides_; }
  // The same, with everything that is shown to users.
  JobAccount& known();
  // The account after at most `entries` entries, which keeps all that follow. Call known() first.
  [[nodiscard]] JobAccount known_at(std::uint64_t entries) const;

  // Runs `work` on the job. What shows that the job cannot be read becomes an UnreadableJob.
  template <typename Work>
  auto reading(Work work) const {
    return jobs::reading(*store, stored.name, std::move(work));
  }
  // The entries after `after`: at least one, and at most `most`. One that is missing is a corrupt_data Error.
  [[nodiscard]] std::vector<records::JobEntry> entries_after(std::uint64_t after, std::size_t most) const;
  // Applies what other processes have appended since, and stores a snapshot from time to time.
  void refresh();
  // Calls `decide` with the current state and appends its answer. Repeats both if another process has appended in
  // between. An empty answer appends nothing; exceptions of `decide` pass through.
  using Decide = std::function<std::vector<records::JobEntryBody>(const JobState&)>;
  void append(const Decide& decide);
  // The same for a request. If the request is already recorded, `repeat` gets the entries that it made: its first one
  // and the next few.
  using Repeat = std::function<void(std::span<const records::JobEntry>)>;
  void append(const Request& request, const Decide& decide, const Repeat& repeat);
  // Whether the request is recorded; if so, `repeat` gets the entries that it made. A key that belongs to another
  // request is an invalid_argument Error.
  bool repeated(const Request& request, const Repeat& repeat) const;
  // The definition when that entry was written. It reads the history up to there.
  records::JobDefinition definition_before(std::uint64_t sequence) const;

  // What is on a page, ascending; of job_pages.cpp.
  template <typename Of>
  std::vector<typename Of::Kept> page(const Page& page);

  // Stores the summary of the history read so far.
  void keep_summary();
  // Stores the summary unless the store has it already.
  void have_summary_kept();
  // Whether the store has the summary; asks the store only if that is not known here.
  bool has_summary_kept();

  // The recurrences whose owner is dead, each with the evidence for that. Asks the store about owners elsewhere once a
  // second at most, and knows of none in between.
  std::vector<std::pair<const OpenRecurrence*, std::string>> find_the_dead();
  std::size_t give_up_the_dead();

  store::JobStore* store;
  Site site;
  store::StoredJob stored;

 private:
  // Starts from a snapshot, if the store has one.
  void begin();
  void take(records::JobEntry entry);
  void read_on();
  // Starts again if costs are weighed differently now, or a recurrence was left out.
  void weigh_anew();
  // For a history that is stored, or about to be.
  store::SummaryRow summary_row(JobAccount& of) const;
  void keep_snapshot();
  void keep_checkpoint() const;
  // Stores a checkpoint if one has become due since the history had `before` entries.
  void keep_checkpoint_since(std::uint64_t before) const;
  [[nodiscard]] std::string checkpoint_key(const JobAccount& of) const;

  // Deciding needs less than displaying: the state is restored first from the snapshot, and the rest when it is needed.
  std::unique_ptr<JobState> decides_;
  std::string snapshot_;                     // the one that the state was restored from
  std::vector<records::JobEntry> later_;     // entries applied since
  std::unique_ptr<JobAccount> account_;      // replaces the three above
  std::uint64_t kept_ = 0;                   // the sequence number of the last snapshot known here
  std::optional<std::uint64_t> summarized_;  // the sequence number of the last summary known here
  std::optional<Instant> looked_elsewhere_;  // when the store was last asked for the beats of owners elsewhere
  std::uint64_t seen_elsewhere_ = 0;         // the newest recurrence of theirs then
};

// Folds a whole history. All costs are weighed as at its end.
JobAccount account_of(const store::StoredJob& job, std::span<const records::JobEntry> entries, std::size_t kept);

// The next step of `recurrence`, and the entries that record it.
struct Decided {
  Step step;
  std::vector<records::JobEntryBody> bodies;
};

// Does not repeat `answered_last`. If `told`, it also records the reason. The recurrence must be open and have no
// running try.
Decided decide_step(const JobState& state, std::uint64_t recurrence,
                    const std::optional<records::ProfileAsked>& answered_last, bool told);
// The seed that scripts receive. It is independent of the policy's draws.
std::uint64_t seed_of_try(const JobState& state, std::uint64_t number);

// The sum over all GPUs.
Joules sum(const std::vector<records::GpuEnergy>& gpus);

// The error for a recurrence that has ended.
Error over_error(std::uint64_t recurrence);

// The entries that start the next recurrence.
std::vector<records::JobEntryBody> beginning_of(const JobState& state, const records::JobDevice& device,
                                                const Beginning& beginning);

// The first entry of that type.
template <typename Body>
const Body& first(std::span<const records::JobEntry> made) {
  for (const records::JobEntry& entry : made) {
    if (const auto* const body = std::get_if<Body>(&entry.body)) {
      return *body;
    }
  }
  throw Error{ErrorKind::corrupt_data, "the entries that a request made are not those it asked for", {}};
}

// The end of its running try, which no process observed.
records::TryFinished lost(const OpenRecurrence& open);
// The entries that end a recurrence without a model: those of its running try, if any, then its own.
std::vector<records::JobEntryBody> ending(const OpenRecurrence& open, const std::string& reason);

// An invalid job name is an invalid_argument Error.
void check_name(std::string_view name);

}  // namespace zeus::jobs
