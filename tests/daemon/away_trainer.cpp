// A C++ training beside a daemon or a server that may go away, for away_test.py:
//   away_trainer STEPS [SERVER]
// Steps of ten milliseconds until SIGTERM; with a server, as a recurrence of a job that is kept there. Prints a line
// for each step, with the time and for how long its calls of Zeus have lasted together; and at the end, how long the
// longest of them lasted, and how long its end took.
#include <zeus/job.hpp>
#include <zeus/train.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <thread>

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

struct Calls {
  double whole = 0;
  double longest = 0;

  template <typename Call>
  void timed(const Call& call) {
    const Clock::time_point begun = Clock::now();
    call();
    const double took = seconds(Clock::now() - begun);
    whole += took;
    longest = std::max(longest, took);
  }

  template <typename Training>
  void step(Training& training, int number) {
    timed([&] { training.begin_step(); });
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    std::printf("step %d %.6f %.6f\n", number, seconds(Clock::now().time_since_epoch()), whole);
    std::fflush(stdout);
  }
};

void train_alone(int steps) {
  zeus::TrainingOptions options;
  options.profiling.plan = zeus::SweepProfiling{.settle = 3, .measure = 15};
  zeus::Training training{options};
  Calls calls;
  for (int step = 0; step < steps && asked_to_end == 0; ++step) {
    if (step % 50 == 0) {
      calls.timed([&] { training.begin_epoch(); });
    }
    calls.step(training, step);
  }
  const Clock::time_point ended = Clock::now();
  training.finish();
  std::printf("calls %.6f %.6f\n", calls.longest, seconds(Clock::now() - ended));
}

void train_for_job(int steps, const char* server) {
  zeus::JobOptions options;
  options.server = server;
  options.server_patience = zeus::Seconds{0.5};
  options.profile_time = zeus::Seconds{0.4};
  zeus::JobDefinition definition{.batch_sizes = {16}, .default_batch_size = 16, .max_epochs = 100};
  definition.beta = std::numeric_limits<double>::infinity();  // however slow the machine is meanwhile
  zeus::Job job{"cpp", definition, options};
  while (std::optional<zeus::Try> attempt = job.next_try()) {
    Calls calls;
    for (int step = 0; step < steps && asked_to_end == 0 && !attempt->over(); ++step) {
      if (step % 50 == 0) {
        calls.timed([&] { static_cast<void>(attempt->next_epoch()); });
      }
      calls.step(*attempt, step);
    }
    // Its end waits for the server, as a user wants.
    std::printf("calls %.6f 0\n", calls.longest);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::atoi(arguments[1]) : 0;
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  try {
    if (count > 2) {
      train_for_job(steps, arguments[2]);
    } else {
      train_alone(steps);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
