// A recurring job whose default batch size is not the best. Each recurrence trains the small network at another batch
// size until it recognizes enough unseen images, and the cheapest batch size is kept. The lines marked with "Zeus" find
// and apply the GPUs' power limit while training, count time and energy, and stop a training that costs more than twice
// the best one.
//
//   recurring_training [SECONDS]       on the GPUs of this machine
//   zeus virtual 1xV100 --load follow:cifar100 -- recurring_training
//
// On virtual GPUs the training, which runs on the CPU, is as fast as the GPU would be under its power limit. SECONDS is
// the approximate length of one training; 2 by default.
#include "small_network/training.hpp"

#include <zeus/error.hpp>
#include <zeus/train.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

namespace {

constexpr double target = 0.88;
constexpr std::uint64_t most_epochs = 40;
constexpr double often_enough = 2.0;  // times the best cost: at this cost a training is stopped
constexpr std::array<std::size_t, 5> batch_sizes{16, 64, 128, 256, 512};

// Several networks that learn the same images from different initial weights and then vote: this scales the work.
class Ensemble {
 public:
  Ensemble(std::size_t members, std::size_t batch_size, std::uint64_t seed) {
    const small_network::Course course{.seed = seed, .images_per_epoch = 2048, .held_out = 1024, .noise = 0.2};
    for (std::size_t i = 0; i < members; ++i) {
      members_.emplace_back(
          course, small_network::Settings{.batch_size = batch_size,
                                          .learning_rate = small_network::scaled_by_root(0.05, 64, batch_size),
                                          .seed = seed + i});
    }
  }

  [[nodiscard]] std::size_t steps_per_epoch() const { return members_.front().steps_per_epoch(); }
  void step() {
    for (small_network::Training& member : members_) {
      member.step();
    }
  }
  [[nodiscard]] double accuracy() const {
    double sum = 0.0;
    for (const small_network::Training& member : members_) {
      sum += member.accuracy();
    }
    return sum / static_cast<double>(members_.size());
  }

 private:
  std::vector<small_network::Training> members_;
};

// The number of networks that take about this long to train here.
std::size_t members_for(double seconds) {
  Ensemble one{1, 64, 0};
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < one.steps_per_epoch(); ++i) {
    one.step();
  }
  const double epoch = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  constexpr double epochs = 8.0;
  return static_cast<std::size_t>(std::clamp(seconds / (epochs * epoch), 1.0, 100.0));
}

zeus::TrainingResult recur(std::size_t batch_size, std::size_t members, std::uint64_t seed,
                           std::optional<zeus::Joules> best, const std::filesystem::path& profiles) {
  Ensemble ensemble{members, batch_size, seed};
  zeus::TrainingOptions options;  // Zeus
  options.batch_size = batch_size;
  options.steps_per_epoch = ensemble.steps_per_epoch();
  options.stopping.target = {.metric = target};
  options.stopping.max_epochs = most_epochs;
  options.files.profiles = profiles;
  if (best) {
    options.stopping.cost_limit = often_enough * *best;
  }
  zeus::Training training{options};  // Zeus
  while (training.next_epoch()) {    // Zeus
    for (std::size_t i = 0; i < ensemble.steps_per_epoch(); ++i) {
      training.begin_step();  // Zeus
      ensemble.step();
    }
    training.report(ensemble.accuracy());  // Zeus
  }
  training.finish();
  return training.result();
}

const char* outcome_of(const zeus::TrainingResult& result) {
  if (result.reached()) {
    return "reached the target";
  }
  return result.stopped_by == zeus::StopReason::too_expensive ? "stopped: too expensive" : "did not reach it";
}

void print(std::size_t batch_size, const zeus::TrainingResult& result) {
  std::printf("%10zu  %6zu  %8.3f  %7.2f s", batch_size, result.epochs.size(), result.metric.value_or(0.0),
              result.time.value());
  if (result.energy) {
    std::printf("  %8.1f J +- %.3g J", result.energy->value.value(), result.energy->uncertainty.value());
  } else {
    std::printf("  %20s", "energy not known");
  }
  if (result.optimum) {
    std::printf("  %4.0f W%s", result.optimum->limit.value(), result.applied ? "" : " (not applied)");
  }
  std::printf("  %s\n", outcome_of(result));
  if (!result.unoptimized.empty()) {
    std::printf("            the GPUs were left alone: %s\n", result.unoptimized.c_str());
  }
  static_cast<void>(std::fflush(stdout));
}

int run(double seconds) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "zeus-recurring-training";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::size_t members = members_for(seconds);
  std::printf("batch size  epochs  accuracy       time                energy  limit\n");
  std::optional<zeus::Joules> best;
  std::size_t best_batch_size = 0;
  for (std::size_t i = 0; i < batch_sizes.size(); ++i) {
    const zeus::TrainingResult result = recur(batch_sizes[i], members, i, best, folder / "profiles.jsonl");
    print(batch_sizes[i], result);
    if (result.reached() && result.cost && (!best || *result.cost < *best)) {
      best = result.cost;
      best_batch_size = batch_sizes[i];
    }
  }
  if (!best) {
    std::printf("No batch size has a known cost: is there a GPU? `zeus doctor` says.\n");
    return 0;
  }
  const zeus::TrainingResult again =
      recur(best_batch_size, members, batch_sizes.size(), best, folder / "profiles.jsonl");
  print(best_batch_size, again);
  std::printf(
      "Batch size %zu is cheapest, at %.1f J of energy-time cost; its profile is kept, so this last time nothing "
      "was measured.\n",
      best_batch_size, best->value());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::atof(argv[1]) : 2.0);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "recurring_training: %s\n", error.what()));
    return 1;
  }
}
