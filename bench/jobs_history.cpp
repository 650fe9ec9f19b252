// The cost of a recurring job with a long history: to decide, with and without a snapshot; to show its summary and its
// last tries, against those of a job with a short history; to show tries from its middle; and to record, against an
// fdatasync of the same disk at the same time. Prints one line of JSON for bench/jobs_bench.py.
//
//   jobs_history FOLDER ENTRIES

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/random.hpp"
#include "jobs/job.hpp"
#include "jobs/job_state.hpp"
#include "store/open_store.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::literals;

constexpr int cold_rounds = 15;
constexpr int warm_rounds = 200;
constexpr int record_rounds = 150;
constexpr int view_rounds = 200;
constexpr int page_rounds = 5;
constexpr std::size_t short_history = 100;
constexpr std::size_t tries_shown = 50;
// The history is long but not surprising, so the policy is asked only now and then.
constexpr std::uint64_t recurrences_between_questions = 200;

records::JobDefinition definition() {
  return {.batch_sizes = {8, 16, 32, 64, 128, 256, 512, 1024},
          .default_batch_size = 256,
          .target = {},
          .max_epochs = 100,
          .policy = "lookahead",
          .seed = 1,
          .max_slowdown = {},
          .device = {.model = "V100",
                     .gpus = 1,
                     .max_power = 250_W,
                     .power_limits = {100_W, 125_W, 150_W, 175_W, 200_W, 225_W, 250_W}}};
}

records::LimitProfile profile(int batch_size, Watts limit) {
  const double slowdown = 1.0 + 0.4 * (250.0 - limit.value()) / 150.0;
  return {.limit = limit, .epoch_time = Seconds{(20.0 + 3000.0 / batch_size) * slowdown}, .average_power = limit * 0.9};
}

records::TryFinished ending(const jobs::RunningTry& running, std::uint64_t recurrence) {
  Random random{running.number, 1};
  const double noise = random.normal(1.0, 0.08);
  const int epochs = std::max(1, static_cast<int>((10.0 + running.batch_size / 25.0) * noise));
  const records::LimitProfile epoch = profile(running.batch_size, 150_W);
  const records::Energy energy{
      .value = epoch.average_power * epoch.epoch_time * epochs, .uncertainty = 1_J, .systematic = {}};
  return {.try_number = running.number,
          .recurrence = recurrence,
          .batch_size = running.batch_size,
          .energy = energy.value,
          .result = {.outcome = random.uniform() < 0.97 ? records::TryOutcome::reached : records::TryOutcome::stopped,
                     .progress = {.epochs = epochs,
                                  .metric = 0.9,
                                  .gpus = {{.gpu = "GPU-8e1d7a52-0000-4000-8000-000000000000", .energy = energy}},
                                  .time = epoch.epoch_time * epochs},
                     .limit = 150_W,
                     .exit_code = 0}};
}

// Builds a history as a real job would.
class History {
 public:
  explicit History(const records::JobOwner& owner) : owner_{owner} {}

  std::vector<records::JobEntry> make(std::size_t entries) {
    while (entries_.size() < entries) {
      const std::uint64_t recurrence = state_.recurrences();
      add(records::RecurrenceBegun{.recurrence = recurrence, .owner = owner_, .device = definition().device});
      while (state_.find(recurrence) != nullptr) {
        if (const jobs::OpenRecurrence* const open = state_.find(recurrence); open->running) {
          add(ending(*open->running, recurrence));
        } else {
          start(recurrence);
        }
      }
    }
    return std::move(entries_);
  }

 private:
  void add(records::JobEntryBody body) {
    entries_.push_back({.sequence = entries_.size() + 1, .written = WallTime{1}, .body = std::move(body)});
    state_.apply(entries_.back());
  }

  void start(std::uint64_t recurrence) {
    if (!batch_size_ || recurrence % recurrences_between_questions == 0 || recurrence < recurrences_between_questions) {
      const optimize::Action action = state_.job().next(recurrence, state_.tries());
      if (const auto* asked = std::get_if<records::ProfileAsked>(&action)) {
        records::ProfileTaken taken{
            .recurrence = recurrence,
            .measured = {.batch_size = asked->batch_size, .limits = {}, .charged = {}, .time = {}},
            .energy = {}};
        for (const Watts limit : asked->limits) {
          taken.measured.limits.push_back(profile(asked->batch_size, limit));
        }
        add(taken);
        return;
      }
      batch_size_ = std::get<records::TryPlan>(action).batch_size;
    }
    add(records::TryStarted{.event = {.try_number = state_.tries(),
                                      .recurrence = recurrence,
                                      .plan = {.batch_size = *batch_size_, .limit = 150_W, .max_epochs = 100}},
                            .seed = 1});
  }

  records::JobOwner owner_;
  jobs::JobState state_{definition()};
  std::optional<int> batch_size_;
  std::vector<records::JobEntry> entries_;
};

SystemClock& machine_clock() {
  static SystemClock clock;
  return clock;
}

// The median, in milliseconds.
double median(int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const Instant start = machine_clock().now();
    work();
    times.push_back(Milliseconds{machine_clock().now() - start}.value());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void flush_a_page(const FileDescriptor& file) {
  const std::string page(4096, 'x');
  write_all(file, page, "the yardstick");
  if (::fdatasync(file.get()) != 0) {
    throw Error{ErrorKind::unavailable, "fdatasync failed"};
  }
}

}  // namespace

int main(int, char** words) {
  const std::filesystem::path folder{words[1]};
  const std::string file = (folder / "jobs.sqlite").string();
  const jobs::Site site = jobs::this_site(machine_clock(), FileTree{});
  const auto store = store::open_store(file, store::Access::create, machine_clock());
  const std::vector<records::JobEntry> history = History{site.owner}.make(std::stoul(words[2]));
  store::GivenEntries given{history};
  store->import("job", definition(), WallTime{1}, given);
  const auto decide_anew = [&] {
    const auto own = store::open_store(file, store::Access::create, machine_clock());
    static_cast<void>(jobs::Job::find(*own, site, "job")->preview());
  };
  const double without = median(3, [&] {
    store->drop_snapshots();
    decide_anew();
  });
  const double with = median(cold_rounds, decide_anew);
  jobs::Job job = *jobs::Job::find(*store, site, "job");
  static_cast<void>(job.preview());
  const double warm = median(warm_rounds, [&] { static_cast<void>(job.preview()); });

  const std::vector<records::JobEntry> few = History{site.owner}.make(short_history);
  store::GivenEntries given_few{few};
  store->import("short", definition(), WallTime{1}, given_few);
  jobs::Job other = *jobs::Job::find(*store, site, "short");
  const auto view = [](jobs::Job& of) {
    static_cast<void>(of.summary());
    static_cast<void>(of.overview(tries_shown));
  };
  view(job);
  view(other);
  std::vector<double> views;
  std::vector<double> short_views;
  for (int round = 0; round < view_rounds; ++round) {
    views.push_back(median(1, [&] { view(job); }));
    short_views.push_back(median(1, [&] { view(other); }));
  }
  std::ranges::sort(views);
  std::ranges::sort(short_views);
  const std::uint64_t middle = job.summary().tries / 2;
  const double page =
      median(page_rounds, [&] { static_cast<void>(job.tries({.before = middle, .at_most = tries_shown})); });

  const FileDescriptor yardstick{::open((folder / "yardstick").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)};
  jobs::Recurrence recurrence = job.begin(definition().device);
  while (std::holds_alternative<records::ProfileAsked>(recurrence.next())) {
  }
  std::vector<double> flushes;
  std::vector<double> records;
  for (int round = 0; round < record_rounds; ++round) {
    flushes.push_back(median(1, [&] { flush_a_page(yardstick); }));
    records.push_back(median(1, [&] { recurrence.epochs({.epochs = round, .metric = 0.5, .gpus = {}, .time = 1_s}); }));
  }
  std::ranges::sort(flushes);
  std::ranges::sort(records);
  fmt::print(
      R"({{"entries":{},"without_ms":{},"with_ms":{},"warm_ms":{},"flush_ms":{},"record_ms":{},"flush_p90_ms":{},"record_p90_ms":{},"view_ms":{},"short_view_ms":{},"page_ms":{}}})"
      "\n",
      words[2], without, with, warm, flushes[record_rounds / 2], records[record_rounds / 2],
      flushes[record_rounds * 9 / 10], records[record_rounds * 9 / 10], views[view_rounds / 2],
      short_views[view_rounds / 2], page);
  return 0;
}
