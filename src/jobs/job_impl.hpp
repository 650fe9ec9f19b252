// What an open job is made of, for the files of this module. One thread at a time.
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

  // What its history comes to, as far as it has been read.
  [[nodiscard]] const JobState& state() const { return account_ ? account_->state() : *decides_; }
  // The same with all that people want to know of it.
  JobAccount& known();
  // As it was after so many entries or earlier, to keep all that comes after. Once it is known.
  [[nodiscard]] JobAccount known_at(std::uint64_t entries) const;

  // Applies what others have appended meanwhile, and keeps a snapshot now and then.
  void refresh();
  // Decides and appends what `decide` answers to the state as it is, as often as it takes until nobody else has
  // appended in between. `decide` answers nothing to append nothing; what it throws goes through.
  using Decide = std::function<std::vector<records::JobEntryBody>(const JobState&)>;
  void append(const Decide& decide);
  // The same for a request; where it is on record, `repeat` is given what it has made instead: its first entry and the
  // next few.
  using Repeat = std::function<void(std::span<const records::JobEntry>)>;
  void append(const Request& request, const Decide& decide, const Repeat& repeat);
  // Whether that request is on record; `repeat` is given what it has made. One whose key is another's is an
  // invalid_argument Error.
  bool repeated(const Request& request, const Repeat& repeat) const;
  // As it was defined when that entry was written; reads the history up to there.
  records::JobDefinition definition_before(std::uint64_t sequence) const;

  // Has the summary of its history kept, as far as it has been read.
  void keep_summary();
  // The same where that is not so already.
  void have_summary_kept();
  // Whether it is, as far as is known here; the store is asked where it is not.
  bool has_summary_kept();

  // The recurrences whose owner is dead, and why one thinks so.
  std::vector<std::pair<const OpenRecurrence*, std::string>> find_the_dead();
  std::size_t give_up_the_dead();

  store::JobStore* store;
  Site site;
  store::StoredJob stored;

 private:
  // Has the state of a snapshot, if one is kept, to begin with.
  void begin();
  void take(records::JobEntry entry);
  // Begins again where costs are weighed otherwise by now.
  void weigh_anew();
  // Of a history that the store has, or is about to have.
  store::SummaryRow summary_row(JobAccount& of) const;
  void keep_snapshot();
  void keep_checkpoint() const;
  // Where the history has come to another stretch since it was that long.
  void keep_checkpoint_since(std::uint64_t before) const;
  [[nodiscard]] std::string checkpoint_key(const JobAccount& of) const;

  // To decide takes less than to tell: of a snapshot, the state is restored at first, and the rest once it is needed.
  std::unique_ptr<JobState> decides_;
  std::string snapshot_;                     // from which it was restored
  std::vector<records::JobEntry> later_;     // that it has seen since
  std::unique_ptr<JobAccount> account_;      // instead of all these
  std::uint64_t kept_ = 0;                   // the sequence number of the last snapshot known
  std::optional<std::uint64_t> summarized_;  // of the last summary known
};

// What a whole history comes to; costs are weighed as they are at its end.
JobAccount account_of(const store::StoredJob& job, std::span<const records::JobEntry> entries, std::size_t kept);

// What `recurrence` is to do now, and what of that is to be put on record.
struct Decided {
  Step step;
  std::vector<records::JobEntryBody> bodies;
};

// `answered_last` is not asked again. With `told`, its reason is put on record too. The recurrence is open, and none of
// its tries is running.
Decided decide_step(const JobState& state, std::uint64_t recurrence,
                    const std::optional<optimize::ProfileAction>& answered_last, bool told);
// A try begins.
records::TryStarted started(const RunStep& step, std::uint64_t recurrence, bool told);
// As it was put on record.
RunStep step_from(const records::TryStarted& started);
// As scripts are given it, apart from the policy's draws.
std::uint64_t seed_of_try(const JobState& state, std::uint64_t number);

// The sum over GPUs.
Joules sum(const std::vector<records::GpuEnergy>& gpus);

// That recurrence is over.
Error over_error(std::uint64_t recurrence);

// What begins the next recurrence.
std::vector<records::JobEntryBody> beginning_of(const JobState& state, const records::JobDevice& device,
                                                const Beginning& beginning);

// The first of that kind.
template <typename Body>
const Body& first(std::span<const records::JobEntry> made) {
  for (const records::JobEntry& entry : made) {
    if (const auto* const body = std::get_if<Body>(&entry.body)) {
      return *body;
    }
  }
  throw Error{ErrorKind::corrupt_data, "what a request has put on record is not what it was to", {}};
}

// The end of its running try, which nobody has seen.
records::TryFinished lost(const OpenRecurrence& open);
// What ends a recurrence without a model: its running try, if any, then itself.
std::vector<records::JobEntryBody> ending(const OpenRecurrence& open, const std::string& reason);

// A name that no job can have is an invalid_argument Error.
void check_name(std::string_view name);

}  // namespace zeus::jobs
