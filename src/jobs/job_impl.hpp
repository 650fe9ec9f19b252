// The parts of an open job, for the files of this module. One thread at a time.
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

struct Job::Impl {
  Impl(store::JobStore& where, Site who, store::StoredJob what);

  // The state, as far as the history has been read.
  [[nodiscard]] const JobState& state() const { return account_ ? account_->state() : *decides_; }
  // The same with everything that people want to know.
  JobAccount& known();
  // As it was after this many entries or fewer, but keeping everything that comes later. known() must have been called.
  [[nodiscard]] JobAccount known_at(std::uint64_t entries) const;

  // Applies what other processes have appended meanwhile, and keeps a snapshot now and then.
  void refresh();
  // Calls `decide` with the current state and appends its answer, and repeats that until no other process has appended
  // in between. An empty answer appends nothing; what `decide` throws passes through.
  using Decide = std::function<std::vector<records::JobEntryBody>(const JobState&)>;
  void append(const Decide& decide);
  // The same for a request. If the request is on record already, `repeat` gets what it made instead: its first entry
  // and the next few.
  using Repeat = std::function<void(std::span<const records::JobEntry>)>;
  void append(const Request& request, const Decide& decide, const Repeat& repeat);
  // Whether that request is on record; if so, `repeat` gets what it made. A key that belongs to another request is an
  // invalid_argument Error.
  bool repeated(const Request& request, const Repeat& repeat) const;
  // The definition when that entry was written; reads the history up to there.
  records::JobDefinition definition_before(std::uint64_t sequence) const;

  // Stores the summary of the history, as far as it has been read.
  void keep_summary();
  // The same, unless it is stored already.
  void have_summary_kept();
  // Whether it is stored, as far as known here; otherwise asks the store.
  bool has_summary_kept();

  // The recurrences whose owner is dead, each with the reason to think so.
  std::vector<std::pair<const OpenRecurrence*, std::string>> find_the_dead();
  std::size_t give_up_the_dead();

  store::JobStore* store;
  Site site;
  store::StoredJob stored;

 private:
  // Starts from a snapshot, if one is kept.
  void begin();
  void take(records::JobEntry entry);
  // Starts again if costs are weighed differently by now.
  void weigh_anew();
  // For a history that the store has, or is about to have.
  store::SummaryRow summary_row(JobAccount& of) const;
  void keep_snapshot();
  void keep_checkpoint() const;
  // Keeps a checkpoint if one has come due since the history had `before` entries.
  void keep_checkpoint_since(std::uint64_t before) const;
  [[nodiscard]] std::string checkpoint_key(const JobAccount& of) const;

  // Deciding needs less than showing: the state of a snapshot is restored first, the rest when it is needed.
  std::unique_ptr<JobState> decides_;
  std::string snapshot_;                     // from which the state was restored
  std::vector<records::JobEntry> later_;     // applied since
  std::unique_ptr<JobAccount> account_;      // in place of the three above
  std::uint64_t kept_ = 0;                   // the sequence number of the last snapshot known
  std::optional<std::uint64_t> summarized_;  // that of the last summary known
};

// Folds a whole history; costs are weighed as they are at its end.
JobAccount account_of(const store::StoredJob& job, std::span<const records::JobEntry> entries, std::size_t kept);

// What `recurrence` is to do now, and the entries to record for it.
struct Decided {
  Step step;
  std::vector<records::JobEntryBody> bodies;
};

// Does not repeat `answered_last`. With `told`, records its reason too. The recurrence must be open, with no running
// try.
Decided decide_step(const JobState& state, std::uint64_t recurrence,
                    const std::optional<optimize::ProfileAction>& answered_last, bool told);
// The entry for the start of a try.
records::TryStarted started(const RunStep& step, std::uint64_t recurrence, bool told);
// The step that such an entry records.
RunStep step_from(const records::TryStarted& started);
// The seed that scripts receive, separate from the policy's draws.
std::uint64_t seed_of_try(const JobState& state, std::uint64_t number);

// The sum over GPUs.
Joules sum(const std::vector<records::GpuEnergy>& gpus);

// The error for a recurrence that is over.
Error over_error(std::uint64_t recurrence);

// The entries that begin the next recurrence.
std::vector<records::JobEntryBody> beginning_of(const JobState& state, const records::JobDevice& device,
                                                const Beginning& beginning);

// The first entry of that kind.
template <typename Body>
const Body& first(std::span<const records::JobEntry> made) {
  for (const records::JobEntry& entry : made) {
    if (const auto* const body = std::get_if<Body>(&entry.body)) {
      return *body;
    }
  }
  throw Error{ErrorKind::corrupt_data, "the entries that a request made are not those it asked for", {}};
}

// The end of its running try, which was not observed.
records::TryFinished lost(const OpenRecurrence& open);
// The entries that end a recurrence without a model: its running try, if any, then itself.
std::vector<records::JobEntryBody> ending(const OpenRecurrence& open, const std::string& reason);

// A name that no job can have is an invalid_argument Error.
void check_name(std::string_view name);

}  // namespace zeus::jobs
