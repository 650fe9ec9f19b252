// The promises of every store (store/job_store.hpp), on each database. Add a new one to `subjects`.

#include "base/clock.hpp"
#include "base/random.hpp"
#include "store/job_store.hpp"
#include "tests/store/store_subjects.hpp"
#include "tests/support/stored_jobs.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace zeus::store {
namespace {

using test::all_entries;

class JobStoreConformance : public testing::TestWithParam<Subject> {
 public:
  static void TearDownTestSuite() {
    constexpr int tests = 20;
    if (CutHome::homes >= tests) {
      std::cout << "connections were cut " << CutHome::cuts << " times\n";
      EXPECT_GE(CutHome::cuts, 50);
    }
  }

 protected:
  [[nodiscard]] std::unique_ptr<JobStore> open() const { return home_(); }

  Home home_ = GetParam().make();
  std::unique_ptr<JobStore> store_ = home_();
};

records::JobDefinition two_gpu_job() {
  return {.batch_sizes = {16, 32},
          .default_batch_size = 16,
          .target = records::JobTarget{.metric = 0.9},
          .max_epochs = 20,
          .policy = "zeus",
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 2, .max_power = 500_W, .power_limits = {100_W, 250_W}}};
}

records::JobEntryBody begun(std::uint64_t recurrence) {
  return records::RecurrenceBegun{
      .recurrence = recurrence,
      .owner = {.host = "here", .place = "boot", .process = {.pid = 7, .started = 9, .command = "zeus"}},
      .device = two_gpu_job().device};
}

// A string that must not break any SQL statement or JSON.
constexpr const char* odd_text = "it's \"odd\"; DROP TABLE jobs; -- \\ \xc3\xa9 :name";

std::vector<records::JobEntryBody> one_of_each() {
  const records::Energy energy{.value = Joules{0.1}, .uncertainty = Joules{1e-17}, .systematic = Joules{3.0}};
  return {begun(0),
          records::TryStarted{.event = {.try_number = 0,
                                        .recurrence = 0,
                                        .plan = {.batch_size = 16, .max_epochs = 20, .budget = Joules{1.0 / 3.0}}},
                              .seed = std::numeric_limits<std::uint64_t>::max()},
          records::ProfileTaken{.recurrence = 0,
                                .measured = {.batch_size = 16,
                                             .limits = {{100_W, 3_s, 90_W}, {250_W, 2_s, 200_W}},
                                             .charged = {{.gpu = "GPU-1", .energy = energy}},
                                             .time = 1_s},
                                .energy = Joules{5e-324}},
          records::EpochsRun{.try_number = 0, .recurrence = 0, .progress = {.epochs = 3, .metric = -0.25, .time = 9_s}},
          records::TryFinished{
              .try_number = 0,
              .recurrence = 0,
              .batch_size = 16,
              .energy = Joules{1e18},
              .result = {.outcome = records::TryOutcome::stopped,
                         .progress = {.epochs = 5,
                                      .metric = 0.5,
                                      .gpus = {{.gpu = odd_text, .energy = energy}, {.gpu = "GPU-2", .energy = energy}},
                                      .time = 10_s},
                         .limit = 100_W,
                         .exit_code = 143,
                         .left_out = odd_text}},
          records::RecurrenceGivenUp{.recurrence = 0, .reason = odd_text},
          records::LateReport{.try_number = 0,
                              .recurrence = 0,
                              .outcome = records::TryOutcome::reached,
                              .progress = {.epochs = 6, .gpus = {{.gpu = odd_text, .energy = energy}}, .time = 11_s}},
          records::RecurrenceLeftOut{.recurrence = 0, .reason = odd_text},
          records::DeviceMoved{.device = {.model = odd_text, .max_power = 300_W, .power_limits = {300_W}}}};
}

ErrorKind kind_of(const std::function<void()>& failing) {
  try {
    failing();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

// An append of one entry, and the summary of the history with it.
std::vector<records::JobEntryBody> one() {
  return {records::RecurrenceGivenUp{.recurrence = 0, .reason = "r"}};
}

records::EntryRequest request(const std::string& key) {
  return {.key = key, .asked = "what " + key + " is for"};
}

records::SavingsView saved(Joules energy) {
  return {.recurrences = 1, .energy = energy, .energy_uncertainty = {}, .time_uncertainty = {}, .cost_uncertainty = {}};
}

records::JobSummary summary_of(const std::string& name, std::uint64_t entries, std::int64_t changed = 0,
                               std::optional<Joules> energy = {}, std::size_t running = 0) {
  records::JobSummary summary{.name = name,
                              .created = {},
                              .changed = WallTime{changed},
                              .entries = entries,
                              .device = odd_text,
                              .running = std::vector<records::RunningSummary>(running),
                              .next = {.limit = {}, .profiles = {}, .max_epochs = {}, .budget = {}, .why = odd_text},
                              .savings = {},
                              .savings_unknown = odd_text,
                              .counted = {}};
  if (energy) {
    summary.savings = saved(*energy);
  }
  for (std::size_t index = 0; index < running; ++index) {
    summary.running[index].recurrence = index + 1;
  }
  return summary;
}

Attached with(const records::JobSummary& summary) {
  return {.summary = SummaryRow{.summary = summary, .days = {}}};
}

std::vector<std::string> names_of(const SummaryPage& page) {
  std::vector<std::string> names;
  for (const records::JobSummary& summary : page.summaries) {
    names.push_back(summary.name);
  }
  return names;
}

std::string text_of(const std::vector<records::JobEntry>& entries) {
  std::string text;
  for (const records::JobEntry& entry : entries) {
    text += records::to_json(entry) + "\n";
  }
  return text;
}

TEST_P(JobStoreConformance, KeepsAJobAsItWasDefinedUnderItsName) {
  EXPECT_FALSE(store_->find(odd_text));
  const StoredJob made = store_->find_or_create(odd_text, two_gpu_job(), WallTime{-5});
  EXPECT_EQ(made.length, 0U);
  const StoredJob again = store_->find_or_create(odd_text, {}, WallTime{99});
  EXPECT_EQ(again.id, made.id);
  EXPECT_EQ(again.definition, two_gpu_job());
  EXPECT_EQ(again.created, WallTime{-5});
  store_->find_or_create("a", two_gpu_job(), {});
  // By their bytes, in every locale of the database.
  store_->find_or_create("B", two_gpu_job(), {});
  EXPECT_EQ(open()->names(), (std::vector<std::string>{"B", "a", odd_text}));
}

TEST_P(JobStoreConformance, AListNamesWhatCannotBeReadUntilASummaryReplacesIt) {
  for (const char* const name : {"a", "b", "c"}) {
    const StoredJob job = store_->find_or_create(name, two_gpu_job(), {});
    store_->keep_summary(job.id, {.summary = summary_of(name, 0), .days = {}});
  }
  store_->keep_unreadable("b", odd_text);
  store_->keep_unreadable("none", "it is not there");
  EXPECT_TRUE(store_->without_summary().empty());
  EXPECT_FALSE(store_->summary(store_->find("b")->id));
  const SummaryPage page = store_->summaries({.at_most = 2});
  ASSERT_EQ(page.summaries.size(), 1U);
  EXPECT_EQ(page.summaries[0].name, "a");
  EXPECT_EQ(page.unreadable, (std::vector<records::UnreadableJob>{{.name = "b", .why = odd_text}}));
  EXPECT_EQ(store_->summaries({.after = page.next}).summaries.at(0).name, "c");
  store_->keep_summary(store_->find("b")->id, {.summary = summary_of("b", 0), .days = {}});
  EXPECT_EQ(store_->summaries({}).summaries.size(), 3U);
}

TEST_P(JobStoreConformance, GivesBackEveryKindOfEntryExactlyAndInOrder) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const std::vector<records::JobEntryBody> bodies = one_of_each();
  ASSERT_TRUE(store_->append(job, 0, bodies, WallTime{1'700'000'000'000'000}));
  std::vector<records::JobEntry> expected;
  for (const records::JobEntryBody& body : bodies) {
    expected.push_back({.sequence = expected.size() + 1, .written = WallTime{1'700'000'000'000'000}, .body = body});
  }
  EXPECT_EQ(text_of(open()->entries(job, 0, all_entries)), text_of(expected));
  EXPECT_EQ(text_of(store_->entries(job, 2, 2)), text_of({expected[2], expected[3]}));
  EXPECT_TRUE(store_->entries(job, bodies.size(), all_entries).empty());
  EXPECT_EQ(store_->find("job")->length, bodies.size());
}

TEST_P(JobStoreConformance, AppendsOnlyToTheHistoryThatWasReadAndAllOrNothing) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const std::vector<records::JobEntryBody> two = {begun(0), begun(1)};
  EXPECT_FALSE(store_->append(job, 1, two, {}));
  EXPECT_TRUE(store_->append(job, 0, two, {}));
  EXPECT_FALSE(store_->append(job, 0, two, {}));
  EXPECT_FALSE(open()->append(job, 1, two, {}));
  EXPECT_TRUE(open()->append(job, 2, two, {}));
  EXPECT_EQ(store_->entries(job, 0, all_entries).size(), 4U);
}

TEST_P(JobStoreConformance, ForgetsAJobWholeAndNeverUsesItsNumberAgain) {
  const JobId first = store_->find_or_create("job", two_gpu_job(), {}).id;
  ASSERT_TRUE(store_->append(first, 0, one_of_each(), {}));
  store_->keep_snapshot(first, {.key = "k", .sequence = 1, .state = "s"});
  store_->keep_checkpoint(first, {.key = "k", .sequence = 1, .state = "s"});
  store_->beat(first, 0, "readings", {});
  EXPECT_TRUE(store_->forget("job"));
  EXPECT_FALSE(store_->forget("job"));
  try {
    store_->append(first, 0, one_of_each(), {});
    FAIL() << "appended to a job that is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
  const StoredJob second = store_->find_or_create("job", two_gpu_job(), {});
  EXPECT_NE(second.id, first);
  EXPECT_EQ(second.length, 0U);
  EXPECT_FALSE(store_->snapshot(first, "k"));
  EXPECT_FALSE(store_->checkpoint_before(first, "k", 9));
  EXPECT_EQ(store_->beats(first)[0], 0U);
  EXPECT_TRUE(store_->readings().empty());
}

TEST_P(JobStoreConformance, ImportsAHistoryUnderNewNumbersUnlessTheNameIsTaken) {
  std::vector<records::JobEntry> entries;
  for (const records::JobEntryBody& body : one_of_each()) {
    entries.push_back({.sequence = 1000, .written = WallTime{77}, .body = body});
  }
  GivenEntries given{entries};
  const StoredJob job = store_->import("job", two_gpu_job(), WallTime{5}, given);
  EXPECT_EQ(job.length, entries.size());
  EXPECT_EQ(store_->find("job")->length, entries.size());
  EXPECT_EQ(store_->entries(job.id, 6, all_entries).at(0).sequence, 7U);
  EXPECT_EQ(store_->entries(job.id, 6, all_entries).at(0).written, WallTime{77});
  try {
    store_->import("job", two_gpu_job(), {}, given);
    FAIL() << "imported over a job";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::already_exists);
  }
}

TEST_P(JobStoreConformance, KeepsTheNewestSnapshotOfAJob) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  EXPECT_FALSE(store_->snapshot(job, "zeus 1"));
  store_->keep_snapshot(job, {.key = "zeus 1", .sequence = 10, .state = odd_text});
  store_->keep_snapshot(job, {.key = "zeus 1", .sequence = 9, .state = "older"});
  EXPECT_EQ(open()->snapshot(job, "zeus 1")->state, odd_text);
  EXPECT_EQ(store_->snapshot(job, "zeus 1")->sequence, 10U);
  EXPECT_FALSE(store_->snapshot(job, "zeus 2"));
  store_->keep_snapshot(job, {.key = "zeus 2", .sequence = 3, .state = "another"});
  EXPECT_FALSE(store_->snapshot(job, "zeus 1"));
  EXPECT_EQ(store_->snapshot(job, "zeus 2")->sequence, 3U);
  store_->drop_snapshots();
  EXPECT_FALSE(store_->snapshot(job, "zeus 2"));
}

TEST_P(JobStoreConformance, KeepsMomentsOfAJobToGoOnFrom) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const JobId other = store_->find_or_create("other", two_gpu_job(), {}).id;
  EXPECT_FALSE(store_->checkpoint_before(job, "zeus 1", 99));
  for (const std::uint64_t sequence : {10U, 30U, 20U}) {
    store_->keep_checkpoint(job, {.key = "zeus 1", .sequence = sequence, .state = odd_text + std::to_string(sequence)});
  }
  store_->keep_checkpoint(other, {.key = "zeus 1", .sequence = 15, .state = "another job's"});
  EXPECT_FALSE(store_->checkpoint_before(job, "zeus 1", 9));
  EXPECT_EQ(store_->checkpoint_before(job, "zeus 1", 10)->sequence, 10U);
  EXPECT_EQ(open()->checkpoint_before(job, "zeus 1", 29)->state, odd_text + std::string{"20"});
  EXPECT_EQ(store_->checkpoint_before(job, "zeus 1", std::numeric_limits<std::uint64_t>::max())->sequence, 30U);
  store_->keep_checkpoint(job, {.key = "zeus 1", .sequence = 20, .state = "again"});
  EXPECT_EQ(store_->checkpoint_before(job, "zeus 1", 29)->state, "again");
  store_->keep_checkpoint(job, {.key = "zeus 2", .sequence = 25, .state = "s"});
  EXPECT_FALSE(store_->checkpoint_before(job, "zeus 1", 99)) << "another version's snapshot is not used";
  EXPECT_EQ(store_->checkpoint_before(job, "zeus 2", 99)->sequence, 25U);
  EXPECT_TRUE(store_->checkpoint_before(other, "zeus 1", 99));
  store_->drop_snapshots();
  EXPECT_FALSE(store_->checkpoint_before(job, "zeus 2", 99));
}

TEST_P(JobStoreConformance, MakesWhatARequestAsksForOnce) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const JobId other = store_->find_or_create("other", two_gpu_job(), {}).id;
  const std::vector<records::JobEntryBody> two = {begun(0), begun(1)};
  EXPECT_FALSE(store_->find_request(job, "ann 1"));
  ASSERT_TRUE(store_->append(job, 0, two, {}));
  ASSERT_TRUE(store_->append(job, 2, two, {}, {.request = {.key = "ann 1", .asked = odd_text}}));
  EXPECT_FALSE(store_->append(job, 4, two, {}, {.request = {.key = "ann 1", .asked = odd_text}}));
  EXPECT_FALSE(open()->append(job, 4, two, {}, {.request = request("ann 1")}));
  EXPECT_EQ(store_->find("job")->length, 4U);
  EXPECT_TRUE(store_->append(job, 4, two, {}, {.request = request("ann 2")}));
  EXPECT_TRUE(store_->append(job, 6, two, {}, {.request = request(odd_text)}));
  EXPECT_TRUE(store_->append(other, 0, two, {}, {.request = request("ann 1")})) << "which is another request";
  const std::optional<FoundRequest> found = open()->find_request(job, "ann 1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sequence, 3U);
  EXPECT_EQ(found->asked, odd_text);
  EXPECT_EQ(store_->find_request(job, odd_text)->sequence, 7U);
  EXPECT_FALSE(store_->find_request(job, ""));
  EXPECT_FALSE(store_->find_request(job, "ann")) << "nor by its beginning";
  const std::vector<records::JobEntry> entries = store_->entries(job, 1, all_entries);
  EXPECT_EQ(entries[0].request, records::EntryRequest{});
  EXPECT_EQ(entries[1].request, (records::EntryRequest{.key = "ann 1", .asked = odd_text}));
  EXPECT_EQ(entries[2].request, records::EntryRequest{}) << "the first entry has it";
}

TEST_P(JobStoreConformance, ARequestThatManyMakeAtOnceIsMadeOnce) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  constexpr int threads = 6;
  constexpr int requests = 12;
  std::atomic<int> made = 0;
  std::vector<std::unique_ptr<JobStore>> own;
  std::vector<std::thread> running;
  for (int index = 0; index < threads; ++index) {
    own.push_back(open());
    JobStore& store = index % 2 == 0 ? *own.back() : *store_;
    running.emplace_back([&store, &made, job] {
      for (int number = 0; number < requests; ++number) {
        const records::EntryRequest asked = request("ann " + std::to_string(number));
        while (!store.find_request(job, asked.key)) {
          made += store.append(job, store.find("job")->length, one(), {}, {.request = asked}) ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  EXPECT_EQ(made, requests);
  EXPECT_EQ(store_->entries(job, 0, all_entries).size(), static_cast<std::size_t>(requests));
}

TEST_P(JobStoreConformance, ImportsRequestsWithTheirEntries) {
  std::vector<records::JobEntry> entries;
  for (std::uint64_t number = 0; number < 450; ++number) {  // more than go into one statement
    entries.push_back({.sequence = number + 1,
                       .written = WallTime{static_cast<std::int64_t>(number)},
                       .body = begun(number),
                       .request = number % 3 == 0 ? request(std::to_string(number)) : records::EntryRequest{}});
  }
  GivenEntries given{entries};
  const JobId job = store_->import("job", two_gpu_job(), {}, given, {.user = "ann", .request = request("x")}).id;
  EXPECT_EQ(text_of(store_->entries(job, 0, all_entries)), text_of(entries));
  EXPECT_EQ(store_->find_request(job, "447")->sequence, 448U);
  entries[1].request = request("447");
  try {
    store_->import("another", two_gpu_job(), {}, given);
    FAIL() << "two entries made by one request";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
  }
  EXPECT_FALSE(store_->find("another"));
}

TEST_P(JobStoreConformance, AnswersAnImportThatComesAgainFromWhatItMade) {
  const std::vector<records::JobEntry> history = {{.sequence = 1, .written = {}, .body = begun(0)}};
  GivenEntries entries{history};
  const JobOrigin origin{.user = {}, .request = request("import")};
  const StoredJob made = store_->import("job", two_gpu_job(), {}, entries, origin);
  ASSERT_TRUE(store_->append(made.id, 1, one(), {}));
  const StoredJob again = open()->import("job", two_gpu_job(), {}, entries, origin);
  EXPECT_EQ(again.id, made.id);
  EXPECT_EQ(again.length, 1U) << "as it was answered at first";
  EXPECT_EQ(store_->find("job")->length, 2U);
  const auto kind = [&](const JobOrigin& of) {
    return kind_of([&] { store_->import("job", two_gpu_job(), {}, entries, of); });
  };
  EXPECT_EQ(kind({.user = {}, .request = request("another")}), ErrorKind::already_exists);
  EXPECT_EQ(kind({}), ErrorKind::already_exists);
  EXPECT_EQ(kind({.user = {}, .request = {.key = origin.request.key, .asked = "something else"}}),
            ErrorKind::invalid_argument);
  ASSERT_TRUE(store_->forget("job"));
  EXPECT_EQ(store_->import("job", two_gpu_job(), {}, entries, origin).length, 1U);
  EXPECT_FALSE(store_->find("job")) << "a late request does not bring the job back";
}

TEST_P(JobStoreConformance, AnswersARequestToForgetThatComesAgainAndForgetsNothingMore) {
  store_->find_or_create("job", two_gpu_job(), {}, {.user = {}, .request = request("make")});
  const JobId job = store_->find("job")->id;
  ASSERT_TRUE(store_->append(job, 0, one(), {}, {.request = request("append")}));
  EXPECT_EQ(kind_of([&] { store_->forget("job", request("append")); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { store_->forget("job", request("make")); }), ErrorKind::invalid_argument);
  EXPECT_TRUE(store_->forget("job", request("forget")));
  EXPECT_TRUE(open()->forget("job", request("forget")));
  EXPECT_FALSE(store_->forget("job", request("another")));
  EXPECT_FALSE(store_->forget("other", request("forget"))) << "keys are of one job";
  store_->find_or_create("job", two_gpu_job(), {});
  EXPECT_TRUE(store_->forget("job", request("forget")));
  EXPECT_TRUE(store_->find("job")) << "another job of that name";
  EXPECT_EQ(kind_of([&] { store_->forget("job", {.key = request("forget").key, .asked = "else"}); }),
            ErrorKind::invalid_argument);
  EXPECT_TRUE(store_->forget("job"));
}

TEST_P(JobStoreConformance, KnowsWhoHadAJobMade) {
  store_->find_or_create("a", two_gpu_job(), {}, {.user = odd_text, .request = request("k")});
  store_->find_or_create("a", two_gpu_job(), {}, {.user = "bob"});
  GivenEntries none{{}};
  store_->import("b", two_gpu_job(), {}, none, {.user = odd_text});
  store_->find_or_create("c", two_gpu_job(), {});
  EXPECT_EQ(open()->find("a")->origin.user, odd_text);
  EXPECT_EQ(store_->find("a")->origin.request, request("k"));
  EXPECT_EQ(store_->find("c")->origin.user, "");
  EXPECT_EQ(store_->find("b")->origin.user, odd_text);
}

TEST_P(JobStoreConformance, AUserHasAsManyJobsAsHeMay) {
  const JobOrigin two{.user = odd_text, .most_jobs = 2};
  store_->find_or_create("a", two_gpu_job(), {}, two);
  store_->find_or_create("b", two_gpu_job(), {}, two);
  EXPECT_THROW(store_->find_or_create("c", two_gpu_job(), {}, two), TooManyJobs);
  EXPECT_FALSE(store_->find("c"));
  EXPECT_EQ(store_->find_or_create("a", two_gpu_job(), {}, two).name, "a") << "which is not made";
  EXPECT_EQ(store_->find_or_create("d", two_gpu_job(), {}, {.user = "bob", .most_jobs = 1}).name, "d");
  EXPECT_EQ(store_->find_or_create("e", two_gpu_job(), {}, {.user = "", .most_jobs = 0}).name, "e") << "nobody's";
  store_->forget("a");
  EXPECT_EQ(store_->find_or_create("c", two_gpu_job(), {}, two).name, "c");
}

TEST_P(JobStoreConformance, AUserNeverExceedsTheMaximumOfJobsEvenIfManyAreCreatedAtOnce) {
  constexpr std::uint64_t most = 5;
  constexpr int makers = 8;
  constexpr int each = 3;
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int maker = 0; maker < makers; ++maker) {
    threads.emplace_back([&, maker] {
      // Two servers, with several threads each.
      const std::unique_ptr<JobStore> own = maker % 2 == 0 ? nullptr : open();
      JobStore& store = own ? *own : *store_;
      for (int number = 0; number < each; ++number) {
        try {
          store.find_or_create(std::to_string(maker) + "." + std::to_string(number), two_gpu_job(), {},
                               {.user = "ann", .most_jobs = most});
          ++made;
        } catch (const TooManyJobs&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(made, static_cast<int>(most));
  EXPECT_EQ(refused, makers * each - static_cast<int>(most));
  EXPECT_EQ(store_->names().size(), most);
}

// Gives entries until it fails.
class CutShort final : public EntrySource {
 public:
  explicit CutShort(const std::vector<records::JobEntry>& entries) : entries_{entries} {}
  void rewind() override { given_ = 0; }
  std::span<const records::JobEntry> next() override {
    if (++given_ > 3) {
      throw Error{ErrorKind::corrupt_data, "cut short"};
    }
    return entries_;
  }

 private:
  const std::vector<records::JobEntry>& entries_;
  int given_ = 0;
};

TEST_P(JobStoreConformance, AnImportThatIsCutShortLeavesNothing) {
  std::vector<records::JobEntry> entries;
  for (std::uint64_t number = 1; number <= 30; ++number) {
    entries.push_back({.sequence = number, .written = {}, .body = begun(number), .request = {}});
  }
  CutShort source{entries};
  EXPECT_THROW(store_->import("job", two_gpu_job(), {}, source), Error);
  EXPECT_FALSE(store_->find("job"));
  GivenEntries whole{entries};
  const JobId job = store_->import("job", two_gpu_job(), {}, whole).id;
  EXPECT_EQ(store_->entries(job, 0, all_entries).size(), entries.size());
}

TEST_P(JobStoreConformance, ReportsTheLengthOfHistories) {
  EXPECT_TRUE(store_->lengths().empty());
  const JobId job = store_->find_or_create(odd_text, two_gpu_job(), {}).id;
  const JobId other = store_->find_or_create("other", two_gpu_job(), {}).id;
  ASSERT_TRUE(open()->append(job, 0, one_of_each(), {}));
  std::vector<JobLength> lengths = store_->lengths();
  std::ranges::sort(lengths, {}, &JobLength::id);
  EXPECT_EQ(lengths, (std::vector<JobLength>{{.id = job, .name = odd_text, .length = one_of_each().size()},
                                             {.id = other, .name = "other", .length = 0}}));
}

TEST_P(JobStoreConformance, KeepsASummaryOfTheHistoryAsItIsOrNone) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  EXPECT_EQ(store_->without_summary(), std::vector<std::string>{"job"});
  EXPECT_FALSE(store_->summary(job));
  const records::JobSummary first = summary_of("job", 1, -7, -3_J, 2);
  ASSERT_TRUE(store_->append(job, 0, one(), {}, with(first)));
  EXPECT_EQ(records::to_json(open()->summary(job).value()), records::to_json(first));
  EXPECT_TRUE(store_->without_summary().empty());

  EXPECT_FALSE(store_->append(job, 0, one(), {}, with(summary_of("job", 1))));
  EXPECT_EQ(records::to_json(store_->summary(job).value()), records::to_json(first)) << "of an append that was refused";
  ASSERT_TRUE(store_->append(job, 1, one(), {}));
  EXPECT_FALSE(store_->summary(job)) << "an entry more than it knows of";
  EXPECT_EQ(store_->without_summary(), std::vector<std::string>{"job"});

  store_->keep_summary(job, {.summary = first, .days = {}});
  EXPECT_FALSE(store_->summary(job)) << "of a history that is longer by now";
  EXPECT_TRUE(store_->summaries({}).summaries.empty());
  const records::JobSummary second = summary_of("job", 2);
  store_->keep_summary(job, {.summary = second, .days = {}});
  EXPECT_EQ(records::to_json(store_->summary(job).value()), records::to_json(second));
  store_->drop_summaries();
  EXPECT_FALSE(store_->summary(job));
  EXPECT_EQ(store_->without_summary(), std::vector<std::string>{"job"});

  store_->keep_summary(job, {.summary = second, .days = {}});
  store_->forget("job");
  EXPECT_FALSE(store_->summary(job));
  store_->keep_summary(job, {.summary = summary_of("job", 0), .days = {}});
  EXPECT_TRUE(store_->summaries({}).summaries.empty()) << "of a job that is gone";
  try {
    store_->append(job, 0, one(), {}, with(summary_of("job", 1)));
    FAIL() << "appended to a job that is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
}

TEST_P(JobStoreConformance, ListsSummariesInPages) {
  struct Kept {
    std::string name;
    std::int64_t changed;
    std::optional<Joules> saved;
    std::size_t running;
  };
  const std::vector<Kept> jobs = {{"B", 50, 5_J, 0},     {"a", 10, {}, 1}, {odd_text, 50, -2.5_J, 1},
                                  {"z/1", 50, 0.1_J, 0}, {"z", 90, {}, 0}, {"\xc3\xa9", -3, 5_J, 2}};
  for (const Kept& job : jobs) {
    const JobId id = store_->find_or_create(job.name, two_gpu_job(), {}).id;
    store_->keep_summary(id, {.summary = summary_of(job.name, 0, job.changed, job.saved, job.running), .days = {}});
  }
  store_->find_or_create("lacks one", two_gpu_job(), {});
  const auto listed = [&](SummaryOrder order, SummaryState state, std::size_t at_most) {
    std::vector<std::string> names;
    SummaryQuery query{.order = order, .state = state, .at_most = at_most};
    do {
      const SummaryPage page = store_->summaries(query);
      EXPECT_LE(page.summaries.size(), at_most);
      EXPECT_EQ(page.summaries.size() == at_most || page.next.empty(), true);
      std::ranges::copy(names_of(page), std::back_inserter(names));
      query.after = page.next;
    } while (!query.after.empty());
    return names;
  };
  using Names = std::vector<std::string>;
  for (const std::size_t at_most : {1U, 2U, 3U, 6U, 100U}) {
    EXPECT_EQ(listed(SummaryOrder::name, SummaryState::any, at_most),
              (Names{"B", "a", odd_text, "z", "z/1", "\xc3\xa9"}));
    EXPECT_EQ(listed(SummaryOrder::changed, SummaryState::any, at_most),
              (Names{"z", "B", odd_text, "z/1", "a", "\xc3\xa9"}));
    EXPECT_EQ(listed(SummaryOrder::savings, SummaryState::any, at_most),
              (Names{"B", "\xc3\xa9", "z/1", odd_text, "a", "z"}));
    EXPECT_EQ(listed(SummaryOrder::changed, SummaryState::running, at_most), (Names{odd_text, "a", "\xc3\xa9"}));
    EXPECT_EQ(listed(SummaryOrder::savings, SummaryState::idle, at_most), (Names{"B", "z/1", "z"}));
  }
  EXPECT_TRUE(store_->summaries({.at_most = 0}).summaries.empty());
  const std::string by_name = store_->summaries({.at_most = 1}).next;
  for (const std::string& cursor :
       {std::string{"n"}, std::string{"x"}, std::string{"nzz"}, std::string{"n6"}, by_name + "0",
        std::string{"c41412f41"}, std::string{"s2f"}, std::string{"n002f"}}) {
    for (const SummaryOrder order : {SummaryOrder::name, SummaryOrder::changed, SummaryOrder::savings}) {
      try {
        store_->summaries({.order = order, .after = cursor});
        ADD_FAILURE() << cursor << " is taken for a place";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      }
    }
  }
}

records::DaySums some_sums(Random& random, std::int64_t day, records::CountUnit unit) {
  const auto some = [&](double most) {
    const double energy = random.uniform(0.0, most);
    const double time = random.uniform(0.0, most);
    const double cost = random.uniform(0.0, most);
    return records::Spent{.energy = Joules{energy}, .time = Seconds{time}, .cost = Joules{cost}};
  };
  records::DaySums sums{.day = day, .unit = unit};
  sums.recurrences = 1 + random.below(9);
  sums.took = some(100.0);
  sums.energy_squares = random.uniform(0.0, 10.0);
  sums.cost_squares = random.uniform(0.0, 10.0);
  sums.start = some(50.0);
  sums.start_half_width = some(3.0);
  sums.count_half_width = some(1.0);
  if (unit != records::CountUnit::known) {
    sums.epoch = some(10.0);
    sums.epoch_half_width = some(0.5);
  }
  return sums;
}

// Across jobs, errors are independent; within one, records::savings_of combines them.
std::optional<records::SavingsView> over_jobs(const std::vector<std::optional<records::SavingsView>>& jobs) {
  std::optional<records::SavingsView> sum;
  for (const std::optional<records::SavingsView>& one : jobs) {
    if (!one) {
      continue;
    }
    if (!sum) {
      sum = one;
      continue;
    }
    const auto hypotenuse = [](auto& into, const auto& more) {
      *into = std::remove_reference_t<decltype(*into)>{std::hypot(into->value(), more->value())};
    };
    sum->recurrences += one->recurrences;
    sum->energy += one->energy;
    sum->energy_of_default += one->energy_of_default;
    sum->time += one->time;
    sum->time_of_default += one->time_of_default;
    sum->cost += one->cost;
    sum->cost_of_default += one->cost_of_default;
    hypotenuse(sum->energy_uncertainty, one->energy_uncertainty);
    hypotenuse(sum->time_uncertainty, one->time_uncertainty);
    hypotenuse(sum->cost_uncertainty, one->cost_uncertainty);
  }
  return sum;
}

void expect_same(const records::SavingsView& seen, const records::SavingsView& expected) {
  constexpr double digits = 1e-9;
  EXPECT_EQ(seen.recurrences, expected.recurrences);
  EXPECT_NEAR(seen.energy.value(), expected.energy.value(), digits);
  EXPECT_NEAR(seen.energy_uncertainty->value(), expected.energy_uncertainty->value(), digits);
  EXPECT_NEAR(seen.energy_of_default.value(), expected.energy_of_default.value(), digits);
  EXPECT_NEAR(seen.time.value(), expected.time.value(), digits);
  EXPECT_NEAR(seen.time_uncertainty->value(), expected.time_uncertainty->value(), digits);
  EXPECT_NEAR(seen.time_of_default.value(), expected.time_of_default.value(), digits);
  EXPECT_NEAR(seen.cost.value(), expected.cost.value(), digits);
  EXPECT_NEAR(seen.cost_uncertainty->value(), expected.cost_uncertainty->value(), digits);
  EXPECT_NEAR(seen.cost_of_default.value(), expected.cost_of_default.value(), digits);
}

TEST_P(JobStoreConformance, AddsUpWhatAllJobsHaveSavedByDay) {
  using records::CountUnit;
  struct Job {
    JobId id = 0;
    SummaryRow row;
  };
  EXPECT_FALSE(store_->savings(-100, 100).all);
  Random random{7};
  std::vector<Job> jobs;
  for (int index = 0; index < 4; ++index) {
    const std::string name = "job " + std::to_string(index);
    Job& job = jobs.emplace_back(Job{.id = store_->find_or_create(name, two_gpu_job(), {}).id,
                                     .row = {.summary = summary_of(name, 1), .days = {}}});
    if (index < 3) {  // of the last, only these values are known
      job.row.summary.counted = records::CountedEpochs{
          .unit = index == 2 ? CountUnit::second : CountUnit::epoch, .mean = 7.5 + index, .half_width = 0.25};
    }
    for (std::int64_t day = -1; day <= 3; ++day) {
      for (const CountUnit unit : {CountUnit::known, CountUnit::epoch, CountUnit::second}) {
        if ((day + index) % 3 != 0) {
          job.row.days.push_back(some_sums(random, day, unit));
        }
      }
    }
    ASSERT_TRUE(store_->append(job.id, 0, one(), {}, {.summary = job.row}));
  }
  const auto check = [&](std::int64_t first, std::int64_t last) {
    const auto expected = [&](std::int64_t from, std::int64_t to) {
      std::vector<std::optional<records::SavingsView>> each;
      for (const Job& job : jobs) {
        std::vector<records::DaySums> days;
        std::ranges::copy_if(job.row.days, std::back_inserter(days),
                             [&](const records::DaySums& sums) { return sums.day >= from && sums.day <= to; });
        each.push_back(records::savings_of(days, job.row.summary.counted));
      }
      return over_jobs(each);
    };
    const SavingsByDay seen = open()->savings(first, last);
    std::vector<std::int64_t> days;
    for (std::int64_t day = first; day <= last; ++day) {
      if (expected(day, day)) {
        days.push_back(day);
      }
    }
    ASSERT_EQ(seen.days.size(), days.size());
    for (std::size_t index = 0; index < days.size(); ++index) {
      EXPECT_EQ(seen.days[index].day, days[index]);
      expect_same(seen.days[index].savings, expected(days[index], days[index]).value());
    }
    ASSERT_TRUE(seen.all);
    expect_same(*seen.all, expected(first, last).value());
  };
  check(-100, 100);
  check(0, 2);

  // One day more, and one that has changed.
  Job& job = jobs.front();
  records::DaySums changed = some_sums(random, 3, CountUnit::epoch);
  const records::DaySums added = some_sums(random, 4, CountUnit::epoch);
  job.row.summary.entries = 2;
  job.row.summary.counted->mean = 9.0;
  ASSERT_TRUE(
      store_->append(job.id, 1, one(), {},
                     {.summary = SummaryRow{.summary = job.row.summary, .days = {changed, added}, .all_days = false}}));
  std::erase_if(job.row.days,
                [&](const records::DaySums& sums) { return sums.day == 3 && sums.unit == CountUnit::epoch; });
  job.row.days.push_back(changed);
  job.row.days.push_back(added);
  check(-100, 100);

  // All of them again.
  job.row.days = {added};
  job.row.summary.entries = 3;
  ASSERT_TRUE(store_->append(job.id, 2, one(), {}, {.summary = job.row}));
  check(-100, 100);

  // Changed days are not enough if the others are not on record.
  ASSERT_TRUE(store_->append(job.id, 3, one(), {}));
  job.row.summary.entries = 5;
  ASSERT_TRUE(store_->append(
      job.id, 4, one(), {}, {.summary = SummaryRow{.summary = job.row.summary, .days = {changed}, .all_days = false}}));
  EXPECT_FALSE(store_->summary(job.id));
  jobs.erase(jobs.begin());
  check(-100, 100);
  store_->forget("job 1");
  jobs.erase(jobs.begin());
  check(-100, 100);
}

TEST_P(JobStoreConformance, ImpossibleSumsDoNotSpoilTheTotals) {
  records::DaySums sums{.day = 1};
  sums.recurrences = 1;
  sums.took = {.energy = Joules{5e-324}, .time = Seconds{1e308}, .cost = Joules{-1e308}};
  sums.energy_squares = 1e308;
  sums.start = sums.took;
  sums.start_half_width = sums.took;
  sums.count_half_width = sums.took;
  for (const char* const name : {"a", "b"}) {
    const JobId job = store_->find_or_create(name, two_gpu_job(), {}).id;
    store_->keep_summary(job, {.summary = summary_of(name, 0, 0, Joules{1e308}), .days = {sums}});
  }
  EXPECT_EQ(store_->savings(1, 1).all->recurrences, 2U);
  EXPECT_EQ(store_->summaries({.order = SummaryOrder::savings}).summaries.size(), 2U);
}

TEST_P(JobStoreConformance, KeepsTheContentOfBeats) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const JobId other = store_->find_or_create("other", two_gpu_job(), {}).id;
  store_->beat(job, 0);
  EXPECT_TRUE(store_->readings().empty());
  store_->beat(job, 0, odd_text, WallTime{5});
  store_->beat(job, 1, "one", WallTime{6});
  store_->beat(other, 0, "another job's", WallTime{7});
  const std::vector<KeptBeat> kept = open()->readings(job);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].recurrence, 0U);
  EXPECT_EQ(kept[0].beat, 2U);
  EXPECT_EQ(kept[0].written, WallTime{5});
  EXPECT_EQ(kept[0].readings, odd_text);
  EXPECT_EQ(store_->readings().size(), 3U);
  store_->beat(job, 0, "later", WallTime{8});
  EXPECT_EQ(store_->readings(job)[0].readings, "later");
  store_->beat(job, 0);
  EXPECT_EQ(store_->readings(job).size(), 1U) << "as of the last beat, which had no report";

  // Once the next recurrence begins, finished ones are removed.
  store_->beat(job, 0, "said after its end", {});
  ASSERT_TRUE(store_->append(job, 0, one(), {}, with(summary_of("job", 1, 0, {}, 2))));
  EXPECT_EQ(store_->readings(job).size(), 2U) << "none has begun";
  const std::vector<records::JobEntryBody> next = {begun(2)};
  records::JobSummary summary = summary_of("job", 2, 0, {}, 2);
  summary.running[0].recurrence = 2;  // said from 1
  summary.running[1].recurrence = 3;
  ASSERT_TRUE(store_->append(job, 1, next, {}, with(summary)));
  ASSERT_EQ(store_->readings(job).size(), 1U);
  EXPECT_EQ(store_->readings(job)[0].readings, "one");
  EXPECT_EQ(store_->beats(job)[0], 0U);
  EXPECT_EQ(store_->beats(job)[1], 1U);
  EXPECT_EQ(store_->readings(other).size(), 1U);
}

TEST_P(JobStoreConformance, NotesSinceWhenEachCountStandsStill) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  const std::array<Sign, 2> first = {{{.recurrence = 0, .count = 0}, {.recurrence = 4, .count = 7}}};
  const std::array<Sign, 2> later = {{{.recurrence = 4, .count = 7}, {.recurrence = 0, .count = 2}}};
  EXPECT_EQ(store_->sight(job, "there", {}, Instant{1}), std::vector<Instant>{});
  EXPECT_EQ(store_->sight(job, "there", first, Instant{100}), (std::vector{Instant{100}, Instant{100}}));
  EXPECT_EQ(store_->sight(job, "there", first, Instant{900}), (std::vector{Instant{100}, Instant{100}}));
  EXPECT_EQ(store_->sight(job, "elsewhere", first, Instant{5}), (std::vector{Instant{5}, Instant{5}}));
  EXPECT_EQ(store_->sight(job, "there", later, Instant{1000}), (std::vector{Instant{100}, Instant{1000}}));
  EXPECT_EQ(open()->sight(job, "there", later, Instant{2000}), (std::vector{Instant{100}, Instant{1000}}));
}

TEST_P(JobStoreConformance, CountsTheBeatsOfEachRecurrence) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  EXPECT_TRUE(store_->beats(job).empty());
  store_->beat(job, 0);
  store_->beat(job, 3);
  store_->beat(job, 0);
  EXPECT_EQ(open()->beats(job), (std::map<std::uint64_t, std::uint64_t>{{0, 2}, {3, 1}}));
}

TEST_P(JobStoreConformance, ThreadsAndConnectionsNeverGiveANumberTwice) {
  const JobId job = store_->find_or_create("job", two_gpu_job(), {}).id;
  constexpr int threads = 4;
  constexpr int rounds = 25;
  std::atomic<int> refused = 0;
  const auto work = [&](JobStore& store) {
    for (int done = 0; done < rounds;) {
      const std::uint64_t length = store.find("job")->length;
      const std::vector<records::JobEntryBody> next = {begun(length)};
      if (store.append(job, length, next, {})) {
        ++done;
      } else {
        ++refused;
      }
    }
  };
  std::vector<std::unique_ptr<JobStore>> own;
  std::vector<std::thread> running;
  for (int index = 0; index < threads; ++index) {
    own.push_back(open());
    running.emplace_back(work, std::ref(*own.back()));
    running.emplace_back(work, std::ref(*store_));
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  const std::vector<records::JobEntry> entries = store_->entries(job, 0, all_entries);
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(2 * threads * rounds));
  for (std::size_t index = 0; index < entries.size(); ++index) {
    EXPECT_EQ(entries[index].sequence, index + 1);
    EXPECT_EQ(std::get<records::RecurrenceBegun>(entries[index].body).recurrence, index);
  }
}

TEST_P(JobStoreConformance, AppendsThatComeTogetherAreEachJudgedByItself) {
  constexpr std::uint64_t jobs = 6;
  constexpr std::uint64_t rounds = 20;
  std::array<JobId, jobs> ids{};
  for (std::size_t index = 0; index < jobs; ++index) {
    ids.at(index) = store_->find_or_create("job " + std::to_string(index), two_gpu_job(), {}).id;
  }
  const JobId gone = store_->find_or_create("gone", two_gpu_job(), {}).id;
  store_->forget("gone");
  std::atomic<int> wrong = 0;
  std::atomic<std::uint64_t> not_found = 0;
  std::atomic<bool> enough = false;
  std::vector<std::thread> running;
  for (const JobId job : ids) {
    running.emplace_back([&, job] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::vector<records::JobEntryBody> two = {begun(2 * round), begun(2 * round + 1)};
        wrong += store_->append(job, 2 * round, two, {}) ? 0 : 1;
        wrong += store_->append(job, 2 * round, two, {}) ? 1 : 0;
      }
    });
  }
  std::thread fails{[&] {
    while (!enough) {
      try {
        store_->append(gone, 0, one_of_each(), {});
        ++wrong;
      } catch (const Error& error) {
        error.kind() == ErrorKind::not_found ? static_cast<void>(++not_found) : static_cast<void>(++wrong);
      }
    }
  }};
  for (std::thread& thread : running) {
    thread.join();
  }
  enough = true;
  fails.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(not_found, 0U);
  for (const JobId job : ids) {
    const std::vector<records::JobEntry> entries = open()->entries(job, 0, all_entries);
    ASSERT_EQ(entries.size(), 2 * rounds);
    for (std::size_t index = 0; index < entries.size(); ++index) {
      EXPECT_EQ(entries[index].sequence, index + 1);
      EXPECT_EQ(std::get<records::RecurrenceBegun>(entries[index].body).recurrence, index);
    }
  }
}

TEST_P(JobStoreConformance, ManyMayMakeItAtOnce) {
  const Home fresh = GetParam().make();
  std::vector<std::thread> running;
  std::array<JobId, 8> made{};
  for (JobId& job : made) {
    running.emplace_back([&] { job = fresh()->find_or_create("job", two_gpu_job(), {}).id; });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  EXPECT_EQ((std::set<JobId>{made.begin(), made.end()}.size()), 1U);
}

INSTANTIATE_TEST_SUITE_P(Databases, JobStoreConformance,
                         testing::Values(sqlite("sqlite", Journal::write_ahead),
                                         sqlite("sqlite_rollback", Journal::rollback), postgresql(), postgresql_cut(),
                                         pooled("sqlite_pool", sqlite("", Journal::write_ahead)),
                                         pooled("postgresql_pool", postgresql())),
                         [](const auto& subject) { return std::string{subject.param.name}; });

}  // namespace
}  // namespace zeus::store
