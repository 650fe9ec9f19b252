// A training loop with an early stop: it ends when its target is reached.
#include <zeus/train.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

static void learn(double& error) {
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  error *= 0.999;
}

int main() {
  try {
    zeus::TrainingOptions options;
    options.stopping = {.target = zeus::TrainingTarget{.metric = 0.6, .higher_is_better = false}, .max_epochs = 30};
    zeus::Training training{options};
    double error = 1;
    while (training.next_epoch()) {
      for (int batch = 0; batch < 100; ++batch) {
        training.begin_step();
        learn(error);
      }
      training.end_steps();
      training.report(error);
    }
    const zeus::TrainingResult result = training.result();
    std::cout << (result.reached() ? "reached" : "not reached") << " after " << result.epochs.size()
              << " epochs: " << result.energy.value_or(zeus::Energy{}) << ", best at "
              << result.optimum.value_or(zeus::PowerSetting{}) << ' ' << result.unoptimized << '\n';
    return result.reached() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
