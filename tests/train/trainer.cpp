// A process that trains, and is profiled while it does, again and again until it is ended: the holder of leases of
// tests/control/restore_test.py, which kills it at random moments.
//
//   train_trainer STATE_DIR GUARDIAN MODE SEED
//     set      trains until SIGTERM
//     fork     the same, beside four forked children that live on, as workers of a data loader would
//     several  trains two at a time, each in a thread of its own, on the same GPUs
//     once     trains until it has been profiled once
// It prints `leased` once a limit has been set.

#include <zeus/train.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <thread>
#include <variant>

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void fork_workers() {
  for (int i = 0; i < 4; ++i) {
    if (::fork() == 0) {
      ::alarm(120);
      while (true) {
        ::pause();
      }
    }
  }
}

void say_leased() {
  static std::atomic_flag said;
  if (!said.test_and_set()) {
    std::puts("leased");
    std::fflush(stdout);
  }
}

// Observing puts limits back between slices, optimizing keeps the best one: the test kills in both.
void train_once(bool forks, bool observe) {
  zeus::TrainingOptions options;
  options.mode = observe ? zeus::TrainingMode::observe : zeus::TrainingMode::optimize;
  options.profiling.plan = zeus::AdaptiveProfiling{.tolerance = 0.01, .warm_up = 2};
  options.profiling.wait_steps = 0;
  bool set = false;
  options.listener = [&](const zeus::TrainingEvent& event) {
    set = set || std::holds_alternative<zeus::SettingApplied>(event);
  };
  zeus::Training training{options};
  int after = 0;
  while (asked_to_end == 0 && after < 20 && training.next_epoch()) {
    for (int batch = 0; batch < 50 && asked_to_end == 0 && after < 20; ++batch) {
      training.begin_step();
      if (set) {
        if (forks) {
          fork_workers();
          forks = false;
        }
        say_leased();
      }
      after += training.profiling() ? 0 : 1;
      std::this_thread::sleep_for(std::chrono::milliseconds{3});
    }
  }
}

void train(bool once, bool forks, bool observe) {
  do {
    train_once(forks, observe);
    forks = false;
    observe = !observe;
  } while (!once && asked_to_end == 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 || ::setenv("ZEUS_STATE_DIR", argv[1], 1) != 0 || ::setenv("ZEUS_GUARDIAN", argv[2], 1) != 0) {
    return 2;
  }
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  try {
    const bool once = std::strcmp(argv[3], "once") == 0;
    const bool forks = std::strcmp(argv[3], "fork") == 0;
    const bool observe = std::strtoull(argv[4], nullptr, 10) % 2 == 0;
    std::future<void> beside;
    if (std::strcmp(argv[3], "several") == 0) {
      beside = std::async(std::launch::async, [&] { train(once, false, !observe); });
    }
    train(once, forks, observe);
    if (beside.valid()) {
      beside.get();
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
