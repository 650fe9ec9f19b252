// One recurrence of the job "digits": trains the small network at the batch size and power limit that earlier
// recurrences found cheapest. Run it again, or see `zeus jobs digits`.
#include "small_network/training.hpp"

#include <zeus/job.hpp>

#include <exception>
#include <iostream>

int main() {
  try {
    zeus::JobDefinition definition;
    definition.batch_sizes = {32, 64, 128, 256};
    definition.default_batch_size = 128;
    definition.target = zeus::TrainingTarget{.metric = 0.9};
    definition.max_epochs = 60;
    zeus::Job job{"digits", definition};
    while (std::optional<zeus::Try> attempt = job.next_try()) {
      std::cout << "batch size " << attempt->batch_size() << ": " << attempt->why() << '\n';
      const auto batch_size = static_cast<std::size_t>(attempt->batch_size());
      const double rate = small_network::scaled_by_root(0.05, 64, batch_size);
      small_network::Training network{{.seed = 1, .images_per_epoch = 8192, .held_out = 1024, .noise = 0.3},
                                      {.batch_size = batch_size, .learning_rate = rate, .seed = attempt->seed()}};
      for (const auto epoch : attempt->epochs()) {
        for (std::size_t i = 0; i < network.steps_per_epoch(); ++i) {
          attempt->begin_step();
          network.step();
        }
        attempt->end_steps();
        attempt->report(network.accuracy());
        std::cout << "  epoch " << epoch << ": " << network.accuracy() << '\n';
      }
    }
    std::cout << (job.reached() ? "reached" : "not reached") << ", recurrence " << job.summary().recurrences << '\n';
    return job.reached() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
