// A recurrence on this machine's GPUs, for live_job_test.py and fronts_test.py:
//   live_job NAME steps|epochs [EPOCH|begins]
// With marked steps, or with epochs alone. Prints the limit under which the training ended. In the middle of EPOCH it
// stops itself, until SIGCONT. With "begins", it prints that after its first steps, and waits while a file `hold`
// exists.
#include <zeus/job.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

namespace {

using namespace zeus::literals;

void recur(const char* name, bool steps, int stops_in, bool says) {
  zeus::JobDefinition definition;
  definition.target = zeus::TrainingTarget{.metric = 0.5};
  definition.max_epochs = 60;
  definition.policy = "zeus";
  zeus::JobOptions options;
  options.power_limits = {100_W, 175_W, 250_W};
  options.profile_time = 0.2_s;
  zeus::Job job{name, definition, options};
  while (std::optional<zeus::Try> attempt = job.next_try()) {
    double error = 1.0;
    for (int epoch = 1; attempt->next_epoch(); ++epoch) {
      for (int i = 0; i < 100; ++i) {
        if (epoch == stops_in && i == 50) {
          std::raise(SIGSTOP);
        }
        if (steps) {
          attempt->begin_step();
        }
        if (says && epoch == 1 && i == 2) {
          std::puts("begins");
          std::fflush(stdout);
          while (std::filesystem::exists("hold")) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
          }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{steps ? 11 : 1});
        // With epochs alone, long enough that a slice which a busy machine disturbs is repeated before the target.
        error *= steps ? 0.9975 : 0.9998;
      }
      attempt->report(1.0 - error);
    }
    std::printf("%.0f\n", attempt->limit().value_or(zeus::Watts{}).value());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    recur(argc > 2 ? argv[1] : "job", argc > 2 && std::string_view{argv[2]} == "steps",
          argc > 3 ? std::atoi(argv[3]) : 0, argc > 3 && std::string_view{argv[3]} == "begins");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
