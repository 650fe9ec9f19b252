// A C++ training beside a daemon that may go away, for away_test.py: steps of ten milliseconds until SIGTERM, or for a
// number of steps. Prints a line for each step, and at the end for how long its calls of Zeus lasted together and at
// most, how long finish() took, and why it was not optimized.
#include <zeus/train.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::atoi(arguments[1]) : 0;
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  try {
    zeus::TrainingOptions options;
    options.profiling.plan = zeus::SweepProfiling{.settle = 3, .measure = 15};
    zeus::Training training{options};
    double whole = 0;
    double longest = 0;
    const auto timed = [&](const auto& call) {
      const Clock::time_point begun = Clock::now();
      call();
      const double took = seconds(Clock::now() - begun);
      whole += took;
      longest = std::max(longest, took);
    };
    for (int step = 0; step < steps && asked_to_end == 0; ++step) {
      if (step % 50 == 0) {
        timed([&] { training.begin_epoch(); });
      }
      timed([&] { training.begin_step(); });
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      std::printf("step %d %.6f\n", step, seconds(Clock::now().time_since_epoch()));
      std::fflush(stdout);
    }
    const Clock::time_point ended = Clock::now();
    training.finish();
    std::printf("calls %.6f %.6f %.6f %s\n", whole, longest, seconds(Clock::now() - ended),
                training.result().unoptimized.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
