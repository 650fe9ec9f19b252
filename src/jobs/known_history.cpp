// What is known of a job's history: folded from its entries, starting at a snapshot, and kept as snapshots, checkpoints
// and summaries.
#include "jobs/job_impl.hpp"
#include "jobs/job_view.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace zeus::jobs {

namespace {

// A snapshot costs a write; folding fewer entries costs less.
constexpr std::uint64_t entries_between_snapshots = 64;
constexpr std::size_t entries_read_at_once = 4096;
// An earlier state is folded from the checkpoint before it.
constexpr std::uint64_t entries_between_checkpoints = 2048;

// A snapshot holds the size of a state in hexadecimal digits, the state, and the rest of the account.
constexpr std::size_t size_digits = 16;

std::string snapshot_text(const JobAccount& account) {
  const std::string state = account.state().save();
  return fmt::format("{:016x}{}{}", state.size(), state, account.save());
}

// Any other string is a corrupt_data Error.
std::pair<std::string_view, std::string_view> parts_of(std::string_view text) {
  std::size_t size = 0;
  const char* const end = text.data() + std::min(size_digits, text.size());
  const auto read = std::from_chars(text.data(), end, size, 16);
  if (text.size() < size_digits || read.ec != std::errc{} || read.ptr != end || size > text.size() - size_digits) {
    throw Error{ErrorKind::corrupt_data, "this is not a snapshot of a job"};
  }
  text.remove_prefix(size_digits);
  return {text.substr(0, size), text.substr(size)};
}

}  // namespace

JobAccount account_of(const store::StoredJob& job, std::span<const records::JobEntry> entries, std::size_t kept) {
  double eta = job.definition.eta;
  JobState::LeftOut left_out;
  for (const records::JobEntry& entry : entries) {
    if (const auto* const redefined = std::get_if<records::JobRedefined>(&entry.body)) {
      eta = redefined->definition.eta;
    } else if (const auto* const one = std::get_if<records::RecurrenceLeftOut>(&entry.body)) {
      left_out.emplace(one->recurrence, one->reason);
    }
  }
  JobAccount account{job.definition, eta, kept, std::move(left_out)};
  for (const records::JobEntry& entry : entries) {
    account.apply(entry);
  }
  return account;
}

Job::Impl::Impl(store::JobStore& where, Site who, store::StoredJob what)
    : store{&where}, site{std::move(who)}, stored{std::move(what)} {
  reading([this] {
    std::string why;
    try {
      begin();
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_argument) {
        throw;
      }
      why = error.message();
    }
    throw Error{ErrorKind::corrupt_data, fmt::format("its definition is not possible: {}", why)};
  });
  kept_ = state().sequence();
}

void Job::Impl::begin() {
  decides_ = std::make_unique<JobState>(stored.definition);
  if (std::optional<store::Snapshot> kept_one = store->snapshot(stored.id, decides_->snapshot_key());
      kept_one && kept_one->sequence <= stored.length) {
    try {
      decides_->restore(parts_of(kept_one->state).first);
      if (decides_->sequence() == kept_one->sequence) {
        snapshot_ = std::move(kept_one->state);
        return;
      }
    } catch (const Error&) {
      // A snapshot is only a cache; the history has everything.
    }
  }
  decides_.reset();
  account_ = std::make_unique<JobAccount>(stored.definition, stored.definition.eta);
}

JobAccount& Job::Impl::known() {
  if (!account_) {
    auto restored = std::make_unique<JobAccount>(stored.definition, stored.definition.eta);
    try {
      const auto [state, rest] = parts_of(snapshot_);
      restored->restore(state, rest);
    } catch (const Error&) {
      // A snapshot is only a cache.
      restored = std::make_unique<JobAccount>(
          account_of(stored, store->entries(stored.id, 0, decides_->sequence() - later_.size()), JobAccount::usual));
    }
    account_ = std::move(restored);
    for (const records::JobEntry& entry : later_) {
      account_->apply(entry);
    }
    decides_.reset();
    snapshot_.clear();
    later_.clear();
    weigh_anew();
  }
  return *account_;
}

void Job::Impl::weigh_anew() {
  if (account_->is_up_to_date()) {
    return;
  }
  const std::uint64_t length = account_->state().sequence();
  account_ = std::make_unique<JobAccount>(account_->begun_again(stored.definition));
  while (account_->state().sequence() < length) {
    const std::uint64_t after = account_->state().sequence();
    for (const records::JobEntry& entry :
         entries_after(after, std::min<std::size_t>(length - after, entries_read_at_once))) {
      account_->apply(entry);
      if (entry.sequence % entries_between_checkpoints == 0) {
        keep_checkpoint();
      }
    }
  }
}

void Job::Impl::take(records::JobEntry entry) {
  if (account_) {
    account_->apply(entry);
    if (entry.sequence % entries_between_checkpoints == 0) {
      keep_checkpoint();
    }
    return;
  }
  decides_->apply(entry);
  const bool begins_again = std::holds_alternative<records::RecurrenceLeftOut>(entry.body);
  later_.push_back(std::move(entry));
  if (begins_again || later_.size() >= entries_between_snapshots) {
    static_cast<void>(known());
  }
}

std::vector<records::JobEntry> Job::Impl::entries_after(std::uint64_t after, std::size_t most) const {
  std::vector<records::JobEntry> some = store->entries(stored.id, after, most);
  if (some.empty()) {
    throw Error{ErrorKind::corrupt_data, fmt::format("entry {} of its history is missing", after + 1)};
  }
  return some;
}

void Job::Impl::refresh() {
  reading([this] { read_on(); });
}

void Job::Impl::read_on() {
  while (true) {
    std::vector<records::JobEntry> news = store->entries(stored.id, state().sequence(), entries_read_at_once);
    const bool all = news.size() < entries_read_at_once;
    for (records::JobEntry& entry : news) {
      take(std::move(entry));
    }
    if (all) {
      break;
    }
  }
  if (state().sequence() < stored.length) {
    throw Error{ErrorKind::corrupt_data,
                fmt::format("entry {} of its history is missing, which has {}", state().sequence() + 1, stored.length)};
  }
  if (account_) {
    weigh_anew();
  }
  if (state().sequence() >= kept_ + entries_between_snapshots) {
    keep_snapshot();
  }
}

void Job::Impl::keep_snapshot() {
  const JobAccount& now = known();
  kept_ = now.state().sequence();
  try {
    store->keep_snapshot(stored.id,
                         {.key = now.state().snapshot_key(), .sequence = kept_, .state = snapshot_text(now)});
  } catch (const Error&) {
    // Only a cache; a store that cannot be written fails at the next write.
  }
}

void Job::Impl::keep_checkpoint_since(std::uint64_t before) const {
  if (before / entries_between_checkpoints != state().sequence() / entries_between_checkpoints) {
    keep_checkpoint();
  }
}

std::string Job::Impl::checkpoint_key(const JobAccount& of) const {
  std::string key = fmt::format("{}, eta {}", of.state().snapshot_key(), of.eta());
  for (const auto& [recurrence, reason] : of.state().left_out()) {
    key += fmt::format(", without {}", recurrence);
  }
  return key;
}

void Job::Impl::keep_checkpoint() const {
  if (!account_->is_up_to_date()) {
    return;  // it is about to be weighed again
  }
  try {
    store->keep_checkpoint(stored.id, {.key = checkpoint_key(*account_),
                                       .sequence = account_->state().sequence(),
                                       .state = snapshot_text(*account_)});
  } catch (const Error&) {
    // Only a cache.
  }
}

JobAccount Job::Impl::known_at(std::uint64_t entries) const {
  JobAccount past = account_->begun_again(stored.definition, JobAccount::all);
  if (const auto checkpoint = store->checkpoint_before(stored.id, checkpoint_key(*account_), entries)) {
    try {
      const auto [state, rest] = parts_of(checkpoint->state);
      JobAccount restored = account_->begun_again(stored.definition, JobAccount::all);
      restored.restore(state, rest);
      if (restored.state().sequence() == checkpoint->sequence) {
        return restored;
      }
    } catch (const Error&) {
      // Only a cache.
    }
  }
  return past;
}

store::SummaryRow Job::Impl::summary_row(JobAccount& of) const {
  const std::optional<std::vector<records::DaySums>> changed = of.take_changed_days();
  return {.summary = summary_of(stored, of),
          .days = changed ? *changed : std::vector<records::DaySums>{of.days().begin(), of.days().end()},
          .all_days = !changed};
}

void Job::Impl::have_summary_kept() {
  if (!has_summary_kept()) {
    keep_summary();
  }
}

bool Job::Impl::has_summary_kept() {
  if (summarized_ != state().sequence()) {
    const std::optional<records::JobSummary> there = store->summary(stored.id);
    if (there && there->entries == state().sequence()) {
      summarized_ = state().sequence();
    }
  }
  return summarized_ == state().sequence();
}

void Job::Impl::keep_summary() {
  JobAccount& all = known();
  all.change_all_days();
  try {
    store->keep_summary(stored.id, summary_row(all));
    summarized_ = state().sequence();
  } catch (const Error&) {
    all.change_all_days();  // only a cache
  }
}

}  // namespace zeus::jobs
