/* A training loop with an early stop, from C: it ends when its target is reached. */
#include <stdio.h>
#include <time.h>
#include <zeus/zeus.h>

static void learn(double* error) {
  const struct timespec a_step = {.tv_nsec = 3000000};
  nanosleep(&a_step, NULL);
  *error *= 0.999;
}

int main(void) {
  const double target = 0.6;
  zeus_training_options options = {.size = sizeof options, .target = &target, .lower_is_better = 1, .max_epochs = 30};
  zeus_training_result result = {.size = sizeof result};
  zeus_training* training = NULL;
  double error = 1.0;
  int go_on = 0;
  if (zeus_training_open(&options, &training) != ZEUS_OK) {
    fprintf(stderr, "%s\n", zeus_last_error());
    return 1;
  }
  while (zeus_training_next_epoch(training, &go_on) == ZEUS_OK && go_on) {
    for (int step = 0; step < 100; ++step) {
      zeus_training_begin_step(training);
      learn(&error);
    }
    zeus_training_end_steps(training);
    zeus_training_report(training, error);
  }
  zeus_training_finish(training);
  zeus_training_get_result(training, &result);
  printf("%s after %d epochs: %.1f +- %.3g J in %.2f s, best at %.0f W %s\n",
         result.stopped_by == ZEUS_TARGET_REACHED ? "reached" : "not reached", (int)result.epochs, result.energy,
         result.energy_uncertainty, result.time, result.limit, result.unoptimized);
  zeus_training_close(training);
  return result.stopped_by == ZEUS_TARGET_REACHED ? 0 : 1;
}
