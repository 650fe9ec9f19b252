// Recurrences of the course (course.hpp) whose job is kept by a server or in a store, for kept_job_test.py:
//   kept_job WHERE NAME RECURRENCES [MILLISECONDS]
// An epoch takes so long, or waits for a line of input. Prints "epoch BATCH_SIZE NUMBER" at each beginning, "model"
// after each training, and "recurrence reached" or "recurrence missed". The C program kept_job_in_c does the same.
#include "told_job.hpp"

#include <zeus/job.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

namespace {

void pause(const char* milliseconds) {
  if (milliseconds != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds{std::atoi(milliseconds)});
  } else {
    static_cast<void>(std::getchar());
  }
}

void train(zeus::Try& attempt, const char* milliseconds) {
  using namespace zeus::test;
  for (const auto epoch : attempt.epochs()) {
    std::printf("epoch %d %d\n", attempt.batch_size(), static_cast<int>(epoch));
    std::fflush(stdout);
    pause(milliseconds);
    if (const auto limits = attempt.limits_to_measure(); !limits.empty()) {
      attempt.took(course::measuring, exactly(course::measuring_energy));
      attempt.measured(course::profiles(attempt.batch_size(), limits));
    }
    const zeus::LimitProfile one = course::profile(attempt.batch_size(), attempt.limit().value_or(course::max_power));
    attempt.took(one.epoch_time, exactly(one.average_power * one.epoch_time));
    attempt.report(course::metric(attempt.batch_size(), attempt.seed(), static_cast<int>(epoch)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string where = argv[1];
    zeus::JobOptions options = zeus::test::told_options({});
    if (where.find(':') != std::string::npos) {
      options.server = where;
    } else {
      options.store = where;
    }
    zeus::Job job{argv[2], zeus::test::told_definition(), options};
    for (int recurrence = 0; recurrence < std::atoi(argv[3]); ++recurrence) {
      while (std::optional<zeus::Try> attempt = job.next_try()) {
        train(*attempt, argc > 4 ? argv[4] : nullptr);
        std::puts("model");
        std::fflush(stdout);
      }
      std::printf("recurrence %s\n", job.reached() ? "reached" : "missed");
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
