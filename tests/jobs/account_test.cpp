// The view of a job does not depend on how it is computed: from the whole history at once, entry by entry with the
// account saved and restored in between, or page by page from a store whose caches vanish.

#include "base/random.hpp"
#include "jobs/job.hpp"
#include "jobs/job_account.hpp"
#include "jobs/job_impl.hpp"
#include "jobs/job_view.hpp"
#include "store/open_store.hpp"
#include "tests/jobs/random_history.hpp"
#include "tests/support/population.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <variant>
#include <vector>

namespace zeus::jobs {
namespace {

using records::JobEntry;
using test::RandomHistory;

constexpr int histories = 16;
constexpr std::size_t entries_of_a_history = 600;

store::StoredJob stored() {
  return {.id = 1, .name = "job", .definition = RandomHistory::definition(), .created = WallTime{1}, .length = 0};
}

// In random numbers of entries, with the account saved and restored in between.
JobAccount by_entries(const std::vector<JobEntry>& entries, double eta, std::size_t kept, Random& chaos) {
  auto account = std::make_unique<JobAccount>(RandomHistory::definition(), eta, kept);
  for (const JobEntry& entry : entries) {
    account->apply(entry);
    if (chaos.below(20) == 0) {
      auto restored = std::make_unique<JobAccount>(RandomHistory::definition(), 0.0, kept);
      restored->restore(account->state().save(), account->save());
      account = std::move(restored);
    }
  }
  return std::move(*account);
}

std::vector<JobEntry> history(std::uint64_t seed, std::size_t entries) {
  return RandomHistory{seed}.make(entries);
}

TEST(Account, SaysTheSameHoweverOftenItWasSavedInBetween) {
  std::uint64_t savings = 0;
  std::uint64_t of_last = 0;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    SCOPED_TRACE(seed);
    Random chaos{seed, 1};
    const std::vector<JobEntry> entries = history(seed, entries_of_a_history + chaos.below(200));
    const JobAccount whole = account_of(stored(), entries, JobAccount::all);
    const std::string view = to_json(view_of(stored(), whole));
    ASSERT_EQ(to_json(view_of(stored(), by_entries(entries, whole.eta(), JobAccount::all, chaos))), view);
    const JobAccount usual = by_entries(entries, whole.eta(), JobAccount::usual, chaos);
    ASSERT_EQ(to_json(summary_of(stored(), usual)), to_json(summary_of(stored(), whole)));
    savings += whole.savings() ? 1 : 0;
    of_last += whole.savings_of_last() && whole.savings_of_last()->recurrences == 5 ? 1 : 0;
    // And it keeps the last recurrences and tries.
    ASSERT_GE(usual.tries().size(), JobAccount::usual);
    ASSERT_LE(usual.tries().size(), JobAccount::usual + 4);
    const records::JobView some = view_of(stored(), usual);
    const records::JobView all = view_of(stored(), whole);
    for (const records::TryView& one : some.tries) {
      EXPECT_EQ(records::json_line(one), records::json_line(all.tries.at(one.number - 1)));
    }
    for (const records::RecurrenceView& one : some.recurrences) {
      EXPECT_EQ(records::json_line(one), records::json_line(all.recurrences.at(one.number - 1)));
    }
  }
  EXPECT_GT(savings, histories / 2) << "histories without known figures test little";
  EXPECT_GT(of_last, histories / 2);
}

// What the entries of a history say that tries and measuring took.
records::Spent of_entries(const std::vector<JobEntry>& entries, double eta) {
  std::map<std::uint64_t, Watts> max_power;  // of each recurrence's devices
  records::Spent sum{};
  const auto add = [&](std::uint64_t recurrence, Joules energy, Seconds time) {
    const Joules cost = energy * eta + max_power.at(recurrence) * time * (1.0 - eta);
    sum = sum + records::Spent{.energy = energy, .time = time, .cost = cost};
  };
  for (const JobEntry& entry : entries) {
    if (const auto* const begun = std::get_if<records::RecurrenceBegun>(&entry.body)) {
      max_power[begun->recurrence] = begun->device.max_power;
    } else if (const auto* const measured = std::get_if<records::ProfileTaken>(&entry.body)) {
      add(measured->recurrence, measured->energy, measured->measured.time);
    } else if (const auto* const finished = std::get_if<records::TryFinished>(&entry.body)) {
      const bool unknown = finished->result.left_out && finished->result.progress.gpus.empty();
      if (unknown) {
        sum.time += finished->result.progress.time;
      } else {
        add(finished->recurrence, finished->energy, finished->result.progress.time);
      }
    }
  }
  return sum;
}

// The JSON of a job's view, as `zeus jobs NAME --json` and a server give it, and of its summary.
TEST(Account, EverythingThatTriesAndMeasuringTookIsCounted) {
  constexpr std::uint64_t drawn_jobs = test::drawn(200);
  std::uint64_t with_others = 0;
  std::uint64_t most = 0;
  for (std::uint64_t seed = 0; seed < drawn_jobs; ++seed) {
    SCOPED_TRACE(seed);
    Random chaos{seed, 2};
    const std::vector<JobEntry> entries = history(1000 + seed, 5 + chaos.below(280));
    const JobAccount account = by_entries(entries, RandomHistory::definition().eta, JobAccount::usual, chaos);
    const records::JobView view = records::job_view_from_json(to_json(view_of(stored(), account)));
    const records::JobSummary summary = records::job_summary_from_json(to_json(summary_of(stored(), account)));
    const records::Spent truth = of_entries(entries, account.eta());
    const records::SpentView& spent = view.spent;
    EXPECT_NEAR(spent.energy.value(), truth.energy.value(), 1e-9 * truth.energy.value());
    EXPECT_NEAR(spent.time.value(), truth.time.value(), 1e-9 * truth.time.value());
    EXPECT_NEAR(spent.cost.value(), truth.cost.value(), 1e-9 * truth.cost.value());
    EXPECT_EQ(summary.took, (records::Spent{.energy = spent.energy, .time = spent.time, .cost = spent.cost}));
    EXPECT_EQ(spent.recurrences, summary.recurrences);
    // What is compared and what is not are all there is.
    const std::uint64_t compared = view.savings ? view.savings->recurrences : 0;
    const Joules in_savings = view.savings ? view.savings->energy_of_default - view.savings->energy : Joules{};
    EXPECT_EQ(compared + spent.others, spent.recurrences);
    EXPECT_NEAR((in_savings + spent.energy_of_others).value(), truth.energy.value(), 1e-9 * truth.energy.value());
    with_others += view.savings && spent.others > 0 ? 1U : 0U;
    most = std::max(most, spent.recurrences);
  }
  EXPECT_GT(with_others, drawn_jobs / 10);
  EXPECT_GE(most, 40U);
}

TEST(Account, DaysSumUpToWhatRecurrencesSaved) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<JobEntry> entries = history(seed, entries_of_a_history);
    const JobAccount account = account_of(stored(), entries, JobAccount::all);
    Joules of_default;
    Joules saved;
    Joules cost;
    std::uint64_t counted = 0;
    for (const RecurrenceAccount& kept : account.recurrences()) {
      const records::RecurrenceView one = account.shown(kept);
      if (one.default_energy) {
        of_default += *one.default_energy;
        saved += *one.default_energy - one.energy.value();
        cost += *one.default_cost - one.cost.value();
        ++counted;
      }
    }
    const auto savings = account.savings();
    ASSERT_EQ(savings.has_value(), counted > 0);
    if (!savings) {
      continue;
    }
    ++compared;
    EXPECT_EQ(savings->recurrences, counted);
    const double scale = of_default.value() * 1e-12;
    EXPECT_NEAR(savings->energy_of_default.value(), of_default.value(), scale);
    EXPECT_NEAR(savings->energy.value(), saved.value(), scale);
    EXPECT_NEAR(savings->cost.value(), cost.value(), savings->cost_of_default.value() * 1e-12);
    // Each day separately as well.
    Joules by_day;
    std::uint64_t on_days = 0;
    for (const records::DaySums& day : account.days()) {
      if (const auto one = records::savings_of(std::span{&day, 1}, account.counted())) {
        by_day += one->energy;
        on_days += one->recurrences;
      }
    }
    EXPECT_NEAR(by_day.value(), saved.value(), scale);
    EXPECT_EQ(on_days, counted);
  }
  EXPECT_GT(compared, histories / 2);
}

// The last five recurrences that count, in the order in which they ended, even if they are older than the ones kept.
TEST(Account, KnowsWhatTheLastRecurrencesSavedWheneverTheyWere) {
  int beyond_a_redefinition = 0;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    SCOPED_TRACE(seed);
    Random chaos{seed, 3};
    const std::vector<JobEntry> entries = history(seed, 150 + chaos.below(entries_of_a_history));
    const JobAccount whole = account_of(stored(), entries, JobAccount::all);
    Joules saved;
    Joules cost;
    std::uint64_t counted = 0;
    bool redefined_since = false;
    for (auto entry = entries.rbegin(); entry != entries.rend() && counted < 5; ++entry) {
      const bool redefines = std::holds_alternative<records::JobRedefined>(entry->body);
      const auto* const finished = std::get_if<records::TryFinished>(&entry->body);
      redefined_since = redefined_since || redefines;
      if (finished == nullptr || !records::reached(finished->result.outcome)) {
        continue;
      }
      const records::RecurrenceView one = whole.shown(whole.recurrences()[finished->recurrence]);
      if (one.default_energy) {
        saved += *one.default_energy - one.energy.value();
        cost += *one.default_cost - one.cost.value();
        beyond_a_redefinition += redefined_since ? 1 : 0;
        ++counted;
      }
    }
    const auto last = by_entries(entries, whole.eta(), JobAccount::usual, chaos).savings_of_last();
    ASSERT_EQ(last.has_value(), counted > 0);
    if (last) {
      EXPECT_EQ(last->recurrences, counted);
      EXPECT_NEAR(last->energy.value(), saved.value(), last->energy_of_default.value() * 1e-12);
      EXPECT_NEAR(last->cost.value(), cost.value(), last->cost_of_default.value() * 1e-12);
    }
  }
  EXPECT_GT(beyond_a_redefinition, 0);
}

TEST(Account, ReportsOfDaysThatChangedBringAKeptCopyUpToDate) {
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    SCOPED_TRACE(seed);
    Random chaos{seed, 2};
    std::vector<records::DaySums> copy;
    JobAccount account{RandomHistory::definition(), 0.5};
    for (const JobEntry& entry : history(seed, entries_of_a_history)) {
      account.apply(entry);
      if (chaos.below(4) != 0) {
        continue;
      }
      const auto changed = account.take_changed_days();
      if (!changed) {
        copy.assign(account.days().begin(), account.days().end());
        continue;
      }
      for (const records::DaySums& day : *changed) {
        std::erase_if(copy, [&](const auto& old) { return old.day == day.day && old.unit == day.unit; });
        copy.push_back(day);
      }
      std::ranges::sort(copy, {}, [](const auto& day) { return std::pair{day.day, day.unit}; });
      ASSERT_TRUE(std::ranges::equal(copy, account.days())) << entry.sequence;
    }
  }
}

TEST(Account, RefusesAStateThatItDidNotSave) {
  const JobAccount account = account_of(stored(), history(1, 200), JobAccount::usual);
  std::string text = account.save();
  text[text.size() / 2] ^= 1;
  JobAccount other{RandomHistory::definition(), 0.5};
  EXPECT_THROW(other.restore(account.state().save(), text), Error);
}

class PagesTest : public testing::Test {
 protected:
  std::unique_ptr<store::JobStore> open() {
    return store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
  }

  test::TemporaryFolder folder_;
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  FileTree machine_{folder_.path() / "machine"};
  Site site_{.clock = clock_, .machine = machine_, .owner = {}};
};

template <typename View>
std::string shown(const std::vector<View>& views) {
  return records::json_line(views);
}

// Newest first.
template <typename View>
std::vector<View> slice(const std::vector<View>& all, std::uint64_t before, std::size_t at_most) {
  std::vector<View> some;
  for (std::uint64_t number = std::min<std::uint64_t>(before, all.size() + 1) - 1; number > 0 && some.size() < at_most;
       --number) {
    some.push_back(all[number - 1]);
  }
  return some;
}

TEST_F(PagesTest, ArePartsOfTheWhole) {
  constexpr std::size_t entries = 5000;
  const auto store = open();
  RandomHistory random{3};
  const std::vector<JobEntry> long_history{random.make(entries)};
  store::GivenEntries given{long_history};
  store->import("job", RandomHistory::definition(), WallTime{1}, given);
  Random chaos{3, 5};
  Job job = *Job::find(*store, site_, "job");
  const records::JobView all = job.view();
  const auto is_late = [](const JobEntry& entry) { return std::holds_alternative<records::LateReport>(entry.body); };
  ASSERT_GT(std::ranges::count_if(long_history, is_late), 20);
  for (int page = 0; page < test::drawn(25); ++page) {
    if (chaos.below(6) == 0) {
      store->drop_snapshots();
    }
    if (chaos.below(6) == 0) {
      job = *Job::find(*store, site_, "job");
    }
    const std::uint64_t before = 1 + chaos.below(all.tries.size() + 10);
    const std::size_t at_most = chaos.below(80);
    ASSERT_EQ(shown(job.tries({.before = before, .at_most = at_most})), shown(slice(all.tries, before, at_most)));
    const std::uint64_t before_recurrence = 1 + chaos.below(all.recurrences.size() + 10);
    ASSERT_EQ(shown(job.recurrences({.before = before_recurrence, .at_most = at_most})),
              shown(slice(all.recurrences, before_recurrence, at_most)));
  }
  EXPECT_EQ(shown(job.tries({.before = {}, .at_most = 50})), shown(slice(all.tries, all.tries.size() + 1, 50)));
  const records::JobView overview = job.overview(50);
  EXPECT_EQ(overview.tries.size(), 50U);
  EXPECT_EQ(records::json_line(overview.savings), records::json_line(all.savings));
}

}  // namespace
}  // namespace zeus::jobs
