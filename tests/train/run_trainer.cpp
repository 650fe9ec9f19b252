// A training for tests/train/under_run_test.py: the number of epochs to its target depends on its batch size, and its
// steps wait as if for a device.
//
//   run_trainer plain    without Zeus: prints its progress, and gets everything from its arguments
//   run_trainer library  reports through zeus::Training, prints nothing, and gets everything from zeus::run_values()
//   run_trainer both     the same, and prints too
//
//   run_trainer WAY [BATCH_SIZE]
#include <zeus/run_values.hpp>
#include <zeus/train.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>

namespace {

constexpr std::uint64_t samples = 4800;
constexpr std::uint64_t steps_of_waiting = 4;

std::uint64_t epochs_needed(std::uint64_t batch_size) {
  return batch_size == 16 ? 2 : batch_size == 32 ? 3 : 5;
}

double accuracy(std::uint64_t batch_size, std::uint64_t epochs) {
  return 0.9 * static_cast<double>(epochs) / static_cast<double>(epochs_needed(batch_size));
}

// In pieces, so that stopping the process slows the wait down too.
void learn() {
  for (std::uint64_t i = 0; i < steps_of_waiting; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

class Printer {
 public:
  explicit Printer(bool prints) : prints_{prints} {}
  void step(std::uint64_t step, std::uint64_t steps) const {
    if (prints_) {
      std::printf("step %ju/%ju\n", std::uintmax_t{step}, std::uintmax_t{steps});
      static_cast<void>(std::fflush(stdout));
    }
  }
  void epoch(double metric) const {
    if (prints_) {
      std::printf("accuracy %.17g\n", metric);
      static_cast<void>(std::fflush(stdout));
    }
  }

 private:
  bool prints_;
};

void train_plainly(std::uint64_t batch_size) {
  const Printer printer{true};
  const std::uint64_t steps = samples / batch_size;
  for (std::uint64_t epoch = 1; epoch <= epochs_needed(batch_size); ++epoch) {
    for (std::uint64_t step = 1; step <= steps; ++step) {
      learn();
      printer.step(step, steps);
    }
    printer.epoch(accuracy(batch_size, epoch));
  }
}

// Everything comes from the run: target, maximum of epochs and batch size are left open.
void train_with_the_library(bool prints) {
  const Printer printer{prints};
  const std::uint64_t batch_size = zeus::run_values().batch_size.value_or(64);
  const std::uint64_t steps = samples / batch_size;
  zeus::Training training;
  for (const std::uint64_t epoch : training.epochs()) {
    for (std::uint64_t i = 1; i <= steps; ++i) {
      training.begin_step();
      learn();
      printer.step(i, steps);
    }
    training.end_steps();
    training.report(accuracy(batch_size, epoch));
    printer.epoch(accuracy(batch_size, epoch));
    if (epoch > 100) {
      break;
    }
  }
  training.finish();
  std::fprintf(stderr, "trained %zu epochs of batch size %ju, %s\n", training.result().epochs.size(),
               std::uintmax_t{batch_size}, training.result().reached() ? "reached" : "not reached");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  try {
    if (way == "plain" && argc == 3) {
      train_plainly(std::strtoull(argv[2], nullptr, 10));
    } else if (way == "library" || way == "both") {
      train_with_the_library(way == "both");
    } else {
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
