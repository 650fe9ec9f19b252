// A process that runs recurrences of jobs and prints what the store has acknowledged, for tests that kill it:
//   jobs_worker STORE SEED RECURRENCES JOB...
// One line on standard output for each thing on record: "begun JOB RECURRENCE", "started JOB TRY", "finished JOB TRY",
// "refused JOB MESSAGE". Outcomes are random.

#include "base/clock.hpp"
#include "base/random.hpp"
#include "jobs/job.hpp"
#include "store/open_store.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstdio>

#include <string>
#include <vector>

namespace {

using namespace zeus::literals;

zeus::records::JobDefinition definition() {
  return {.batch_sizes = {16, 32, 64, 128},
          .default_batch_size = 64,
          .target = {},
          .max_epochs = 50,
          .policy = "zeus",
          .seed = 1,
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 1, .max_power = 250_W, .power_limits = {100_W, 175_W, 250_W}}};
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  static_cast<void>(std::fflush(stdout));
}

zeus::records::TryResult outcome_of(zeus::Random& draws) {
  const auto kind = draws.bits() % 10;
  const auto epochs = static_cast<int>(draws.bits() % 20) + 1;
  return {
      .outcome = kind < 7   ? zeus::records::TryOutcome::reached
                 : kind < 9 ? zeus::records::TryOutcome::stopped
                            : zeus::records::TryOutcome::lost,
      .progress = {.epochs = epochs,
                   .gpus = {{.gpu = "GPU-0",
                             .energy = {.value = zeus::Joules{1000.0 * epochs}, .uncertainty = 1_J, .systematic = {}}}},
                   .time = zeus::Seconds{10.0 * epochs}},
      .limit = 175_W,
      .exit_code = 0};
}

void run(zeus::store::JobStore& store, const zeus::jobs::Site& site, const std::string& name, zeus::Random& draws) {
  zeus::jobs::Job job = zeus::jobs::Job::open(store, site, name, definition());
  zeus::jobs::Recurrence recurrence = job.begin(definition().device);
  say(fmt::format("begun {} {}", name, recurrence.number()));
  while (!recurrence.over()) {
    const zeus::jobs::Step step = recurrence.next();
    if (const auto* profile = std::get_if<zeus::records::ProfileAsked>(&step)) {
      std::vector<zeus::records::LimitProfile> limits;
      for (const zeus::Watts limit : profile->limits) {
        limits.push_back({.limit = limit, .epoch_time = 10_s, .average_power = 100_W});
      }
      recurrence.profiled({.batch_size = profile->batch_size, .limits = limits, .charged = {}, .time = 1_s});
    } else if (const auto* run = std::get_if<zeus::records::TryStarted>(&step)) {
      say(fmt::format("started {} {}", name, run->event.try_number));
      recurrence.epochs({.epochs = 1, .metric = {}, .gpus = {}, .time = 10_s});
      recurrence.finished(outcome_of(draws));
      say(fmt::format("finished {} {}", name, run->event.try_number));
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  zeus::SystemClock clock;
  const zeus::jobs::Site site = zeus::jobs::this_site(clock, zeus::FileTree{});
  zeus::Random draws{std::stoull(arguments.at(1))};
  const std::vector<std::string> names(arguments.begin() + 3, arguments.end());
  try {
    const auto store = zeus::store::open_store(arguments.at(0), zeus::store::Access::create, clock);
    for (unsigned long done = 0; done < std::stoul(arguments.at(2)); ++done) {
      run(*store, site, names[(draws.bits() + done) % names.size()], draws);
    }
  } catch (const zeus::Error& error) {
    say(fmt::format("refused {} {}", to_string(error.kind()), error.what()));
    return 1;
  }
  return 0;
}
