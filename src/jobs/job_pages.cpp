// Reads pages of a job's history.
#include "jobs/job.hpp"
#include "jobs/job_impl.hpp"
#include "jobs/job_view.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace zeus::jobs {

namespace {

constexpr std::size_t entries_between_checks = 256;
constexpr std::size_t most_at_once = 10'000;

// The differences between pages of recurrences and of tries.
struct OfRecurrences {
  using Kept = RecurrenceAccount;
  static auto kept(const JobAccount& account) { return account.recurrences(); }
  static std::uint64_t begun(const JobState& state) { return state.recurrences(); }
  static std::uint64_t entries_before(const JobAccount& account, std::uint64_t number) {
    return account.entries_before_recurrence(number);
  }
  // No later entry changes what is shown.
  static bool is_settled(const Kept& one, const JobState& /*then*/) {
    return one.view.state != records::RecurrenceState::running;
  }
};

struct OfTries {
  using Kept = TryAccount;
  static auto kept(const JobAccount& account) { return account.tries(); }
  static std::uint64_t begun(const JobState& state) { return state.tries(); }
  static std::uint64_t entries_before(const JobAccount& account, std::uint64_t number) {
    return account.entries_before_try(number);
  }
  static bool is_settled(const Kept& one, const JobState& then) {
    const bool may_report =
        one.view.outcome == records::TryOutcome::lost && then.find_past(one.view.number - 1) != nullptr;
    return one.view.outcome.has_value() && !may_report;
  }
};

// Those kept with these numbers, ascending.
template <typename Of>
std::vector<typename Of::Kept> between(const JobAccount& account, std::uint64_t first, std::uint64_t last) {
  std::vector<typename Of::Kept> some;
  std::ranges::copy_if(Of::kept(account), std::back_inserter(some), [=](const typename Of::Kept& one) {
    return one.view.number >= first && one.view.number <= last;
  });
  return some;
}

// A page, ascending: from what is in memory, or else folded from the checkpoint before it until every item on it is
// settled.
template <typename Of>
std::vector<typename Of::Kept> on_page(const Page& page, const JobAccount& now, const auto& known_at,
                                       const auto& entries_after) {
  const std::uint64_t begun = Of::begun(now.state());
  const std::uint64_t last = std::min(page.before.value_or(begun + 1), begun + 1) - 1;
  const std::uint64_t count = std::min<std::uint64_t>(page.at_most, last);
  if (count == 0) {
    return {};
  }
  const std::uint64_t first = last - count + 1;
  if (std::vector<typename Of::Kept> at_hand = between<Of>(now, first, last); at_hand.size() == count) {
    return at_hand;
  }
  JobAccount past = known_at(Of::entries_before(now, first));
  std::vector<typename Of::Kept> some;
  while (true) {
    some = between<Of>(past, first, last);
    const std::uint64_t after = past.state().sequence();
    const auto is_settled = [&](const typename Of::Kept& one) { return Of::is_settled(one, past.state()); };
    if ((some.size() == count && std::ranges::all_of(some, is_settled)) || after >= now.state().sequence()) {
      return some;
    }
    const std::size_t more = std::min<std::uint64_t>(entries_between_checks, now.state().sequence() - after);
    for (const records::JobEntry& entry : entries_after(after, more)) {
      past.apply(entry);
    }
  }
}

}  // namespace

template <typename Of>
std::vector<typename Of::Kept> Job::Impl::page(const Page& page) {
  refresh();
  return reading([&] {
    return on_page<Of>(
        page, known(), [this](std::uint64_t entries) { return known_at(entries); },
        [this](std::uint64_t after, std::size_t most) { return entries_after(after, most); });
  });
}

records::JobView Job::view() {
  return impl_->reading([this] {
    const std::vector<records::JobEntry> whole =
        impl_->store->entries(impl_->stored.id, 0, std::numeric_limits<std::size_t>::max());
    return view_of(impl_->stored, account_of(impl_->stored, whole, JobAccount::all));
  });
}

records::JobView Job::overview(std::size_t most) {
  impl_->refresh();
  records::JobView view = view_of(impl_->stored, impl_->known());
  const auto cut = [most](auto& list) {
    const std::size_t more = list.size() - std::min(most, list.size());
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(more));
  };
  cut(view.recurrences);
  cut(view.tries);
  return view;
}

void Job::keep_summary() {
  impl_->refresh();
  impl_->keep_summary();
}

records::JobSummary Job::summary() {
  impl_->refresh();
  impl_->have_summary_kept();
  return summary_of(impl_->stored, impl_->known());
}

bool Job::has_reached(int batch_size) {
  impl_->refresh();
  return impl_->known().ended(batch_size).reached > 0;
}

std::vector<records::RecurrenceView> Job::recurrences(const Page& page) {
  std::vector<records::RecurrenceView> views;
  for (const RecurrenceAccount& one : impl_->page<OfRecurrences>(page)) {
    views.push_back(impl_->known().shown(one));
  }
  std::ranges::reverse(views);
  return views;
}

std::vector<records::TryView> Job::tries(const Page& page) {
  std::vector<records::TryView> views;
  for (const TryAccount& one : impl_->page<OfTries>(page)) {
    views.push_back(one.view);
  }
  std::ranges::reverse(views);
  return views;
}

std::vector<records::JobSummary> summaries(store::JobStore& store, const Site& site, const Unreadable& unreadable) {
  std::map<std::string, records::JobSummary> kept;
  store::SummaryQuery query{.at_most = most_at_once};
  do {
    store::SummaryPage page = store.summaries(query);
    for (records::JobSummary& one : page.summaries) {
      std::string name = one.name;
      kept.insert_or_assign(std::move(name), std::move(one));
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  std::vector<records::JobSummary> all;
  for (const std::string& name : store.names()) {
    if (const auto known = kept.find(name); known != kept.end()) {
      all.push_back(std::move(known->second));
      continue;
    }
    try {
      if (std::optional<Job> job = Job::find(store, site, name)) {
        all.push_back(job->summary());
      }
    } catch (const UnreadableJob& error) {
      unreadable(name, error);
    }
  }
  return all;
}

void keep_unreadable(store::JobStore& store, std::string_view job, const UnreadableJob& error) {
  try {
    store.keep_unreadable(job, error.why());
  } catch (const Error&) {
    // Only a cache.
  }
}

}  // namespace zeus::jobs
