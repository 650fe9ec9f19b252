/* Training from C: misuse returns an error, and a training reports its result. With an argument, a GPU can be set.
 * Exits with 0, or prints the line that failed. */
#include <zeus/zeus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                         \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "line %d: %s (last error: %s)\n", __LINE__, #condition, zeus_last_error()); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

static void refuse(zeus_training_options options, const char* word) {
  zeus_training* training = (zeus_training*)&options;
  EXPECT(zeus_training_open(&options, &training) == ZEUS_INVALID_ARGUMENT);
  EXPECT(training == NULL);
  EXPECT(strstr(zeus_last_error(), word) != NULL);
}

static void options_that_make_no_sense(void) {
  const double nan = NAN;
  const double negative = -1.0;
  const double beyond = 2.0;
  const int no_gpu = 99;
  zeus_training_options given = {.size = 0};
  refuse(given, "size");
  given.size = sizeof(given);
  given.mode = (zeus_training_mode)7;
  refuse(given, "mode");
  given = (zeus_training_options){.size = sizeof(given), .goal = (zeus_goal)7};
  refuse(given, "goal");
  given = (zeus_training_options){.size = sizeof(given), .eta = &beyond};
  refuse(given, "eta");
  given = (zeus_training_options){.size = sizeof(given), .target = &nan};
  refuse(given, "target");
  given = (zeus_training_options){.size = sizeof(given), .max_slowdown = 1.1};
  refuse(given, "slowdown");
  given = (zeus_training_options){.size = sizeof(given), .goal = ZEUS_MAX_SLOWDOWN, .max_slowdown = 0.5};
  refuse(given, "0.5");
  given = (zeus_training_options){.size = sizeof(given), .limits = &negative, .limit_count = 1};
  refuse(given, "power limit");
  given = (zeus_training_options){.size = sizeof(given), .limit_count = 1};
  refuse(given, "list");
  given = (zeus_training_options){.size = sizeof(given), .gpus = &no_gpu, .gpu_count = 1};
  zeus_training* training = NULL;
  EXPECT(zeus_training_open(&given, &training) == ZEUS_NOT_FOUND);
}

static void null_pointers(void) {
  zeus_training* training = NULL;
  zeus_training_result result = {.size = sizeof(result)};
  zeus_epoch epoch = {.size = sizeof(epoch)};
  zeus_stop_reason reason = ZEUS_TOO_EXPENSIVE;
  int answer = 7;
  EXPECT(zeus_training_open(NULL, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_next_epoch(NULL, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_begin_epoch(NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_end_epoch(NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_begin_step(NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_end_steps(NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_progress(NULL, 1) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_report(NULL, 1.0) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_set_target(NULL, 1.0, 0) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_set_batch_size(NULL, 1) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_stop_reason(NULL, &reason) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_is_profiling(NULL, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_finish(NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_get_result(NULL, &result) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_get_epoch(NULL, 0, &epoch) == ZEUS_INVALID_ARGUMENT);
  zeus_training_close(NULL);

  EXPECT(zeus_training_open(NULL, &training) == ZEUS_OK);
  EXPECT(zeus_training_next_epoch(training, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_stop_reason(training, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_is_profiling(training, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_get_result(training, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_get_epoch(training, 0, &epoch) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_set_batch_size(training, 0) == ZEUS_INVALID_ARGUMENT);
  result.size = 0;
  EXPECT(zeus_training_get_result(training, &result) == ZEUS_INVALID_ARGUMENT);
  zeus_training_close(training);
}

static void train(zeus_training* training, double metric) {
  const struct timespec a_while = {.tv_nsec = 2000000};
  for (int i = 0; i < 3; ++i) {
    EXPECT(zeus_training_begin_step(training) == ZEUS_OK);
    nanosleep(&a_while, NULL);
  }
  EXPECT(zeus_training_end_steps(training) == ZEUS_OK);
  EXPECT(zeus_training_report(training, metric) == ZEUS_OK);
}

static void a_training(int can_set) {
  const double target = 0.5;
  const zeus_training_options given = {
      .size = sizeof(given), .target = &target, .max_epochs = 5, .mode = ZEUS_TRAINING_OBSERVE};
  struct {
    size_t size;
    zeus_stop_reason stopped_by;
    uint64_t epochs;
    double beyond;
  } shorter = {.size = sizeof(size_t) + sizeof(uint64_t) * 2, .beyond = -7.0};
  zeus_training* training = NULL;
  zeus_training_result result = {.size = sizeof(result)};
  zeus_epoch epoch = {.size = sizeof(epoch)};
  zeus_stop_reason reason = ZEUS_TOO_EXPENSIVE;
  int go_on = 0;
  int status = 0;
  EXPECT(zeus_training_open(&given, &training) == ZEUS_OK);
  EXPECT(zeus_training_next_epoch(training, &go_on) == ZEUS_OK && go_on);
  EXPECT(zeus_training_get_epoch(training, 1, &epoch) == ZEUS_INVALID_ARGUMENT);
  train(training, 0.2);
  EXPECT(zeus_training_progress(training, 1) == ZEUS_INVALID_ARGUMENT); /* steps are marked */
  EXPECT(zeus_training_next_epoch(training, &go_on) == ZEUS_OK && go_on);
  if (fork() == 0) {
    /* In the child, the training does nothing. */
    EXPECT(zeus_training_next_epoch(training, &go_on) == ZEUS_OK && !go_on);
    zeus_training_close(training);
    _exit(0);
  }
  EXPECT(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  train(training, 0.7);
  EXPECT(zeus_training_next_epoch(training, &go_on) == ZEUS_OK && !go_on);
  EXPECT(zeus_training_stop_reason(training, &reason) == ZEUS_OK && reason == ZEUS_TARGET_REACHED);
  EXPECT(zeus_training_finish(training) == ZEUS_OK);
  EXPECT(zeus_training_begin_step(training) == ZEUS_INVALID_ARGUMENT);
  EXPECT(strstr(zeus_last_error(), "finished") != NULL);
  EXPECT(zeus_training_get_result(training, &result) == ZEUS_OK);
  EXPECT(result.stopped_by == ZEUS_TARGET_REACHED && result.epochs == 2 && result.metric == 0.7);
  EXPECT(result.time > 0 && isnan(result.energy) == !can_set && isnan(result.predicted_energy));
  EXPECT(strlen(result.no_prediction) > 0);
  EXPECT(zeus_training_get_epoch(training, 1, &epoch) == ZEUS_OK);
  EXPECT(epoch.number == 2 && epoch.steps == 3 && epoch.metric == 0.7 && isnan(epoch.energy) == !can_set);
  EXPECT(zeus_training_get_epoch(training, 2, &epoch) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_training_get_result(training, (zeus_training_result*)&shorter) == ZEUS_OK);
  EXPECT(shorter.epochs == 2 && shorter.beyond == -7.0);
  zeus_training_close(training);
}

int main(int argc, char** argv) {
  (void)argv;
  options_that_make_no_sense();
  null_pointers();
  a_training(argc > 1);
  return 0;
}
