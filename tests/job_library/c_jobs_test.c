/* zeus/jobs.h: misuse returns an error, and a job from C is the same as from C++. Its argument is a new folder. Exits
 * with 0, or prints the line that fails. */
#include <zeus/jobs.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                         \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "line %d: %s (last error: %s)\n", __LINE__, #condition, zeus_last_error()); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

static const int sizes[] = {16, 32};
static const double limits[] = {100.0, 250.0};
static const double target = 0.9;
static char store[4096];

static zeus_job_definition the_definition(void) {
  const zeus_job_definition definition = {.size = sizeof(definition),
                                          .batch_sizes = sizes,
                                          .batch_size_count = 2,
                                          .default_batch_size = 32,
                                          .target = &target,
                                          .max_epochs = 9};
  return definition;
}

static zeus_job_options the_options(void) {
  const zeus_job_options options = {.size = sizeof(options),
                                    .store = store,
                                    .limits = limits,
                                    .limit_count = 2,
                                    .elsewhere_model = "V100",
                                    .elsewhere_max_power = 250.0};
  return options;
}

static void refuse(zeus_job_definition definition, zeus_job_options options, zeus_status status) {
  zeus_job* job = (zeus_job*)&definition;
  EXPECT(zeus_job_open("course", &definition, &options, &job) == status);
  EXPECT(job == NULL);
  EXPECT(strlen(zeus_last_error()) > 0);
}

static void openings_that_make_no_sense(void) {
  const double beyond = 2.0;
  zeus_job* job = NULL;
  zeus_job_definition definition = the_definition();
  zeus_job_options options = the_options();
  EXPECT(zeus_job_open(NULL, &definition, &options, &job) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_open("course", &definition, &options, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_open("course", NULL, &options, &job) == ZEUS_NOT_FOUND);
  definition.size = 0;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
  definition = the_definition();
  definition.batch_sizes = NULL;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
  definition = the_definition();
  definition.default_batch_size = 0;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
  definition = the_definition();
  definition.eta = &beyond;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
  definition = the_definition();
  options.elsewhere_max_power = NAN;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
  options = the_options();
  options.size = 1;
  refuse(definition, options, ZEUS_INVALID_ARGUMENT);
}

static void null_pointers_and_calls_out_of_order(void) {
  zeus_job* job = NULL;
  zeus_job_try attempt = {.size = sizeof(attempt)};
  zeus_job_summary summary = {.size = sizeof(summary)};
  const zeus_job_definition definition = the_definition();
  const zeus_job_options options = the_options();
  size_t count = 0;
  int answer = 7;
  EXPECT(zeus_job_next_try(NULL, &attempt, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_next_epoch(NULL, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_get_summary(NULL, &summary) == ZEUS_INVALID_ARGUMENT);
  zeus_job_close(NULL);
  EXPECT(zeus_job_open("course", &definition, &options, &job) == ZEUS_OK);
  EXPECT(zeus_job_next_epoch(job, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(strstr(zeus_last_error(), "no try") != NULL);
  EXPECT(zeus_job_begin_step(job) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_end_steps(job) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_report(job, 1.0) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_fail(job) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_took(job, 1.0, 1.0, 0.0) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_get_try(job, &attempt) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_reached(job, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_next_try(job, &attempt, NULL) == ZEUS_INVALID_ARGUMENT);
  attempt.size = 0;
  EXPECT(zeus_job_next_try(job, &attempt, &answer) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_next_try(job, NULL, &answer) == ZEUS_OK && answer == 1);
  EXPECT(zeus_job_next_epoch(job, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_took(job, NAN, 1.0, 0.0) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_measured(job, NULL, 1) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_limits_to_measure(job, NULL, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_job_limits_to_measure(job, NULL, &count) == ZEUS_OK && count > 0);
  zeus_job_close(job); /* within a recurrence, which is given up */
}

static void a_recurrence(void) {
  zeus_job* job = NULL;
  zeus_job_try attempt = {.size = sizeof(attempt)};
  zeus_job_summary summary = {.size = sizeof(summary)};
  const zeus_job_options options = the_options();
  int go_on = 0;
  int epochs = 0;
  EXPECT(zeus_job_open("course", NULL, &options, &job) == ZEUS_OK);
  while (zeus_job_next_try(job, &attempt, &go_on) == ZEUS_OK && go_on) {
    EXPECT((attempt.batch_size == 16 || attempt.batch_size == 32) && strlen(attempt.why) > 0);
    epochs = 0;
    while (zeus_job_next_epoch(job, &go_on) == ZEUS_OK && go_on) {
      double asked[2];
      size_t count = 2;
      EXPECT(zeus_job_limits_to_measure(job, asked, &count) == ZEUS_OK);
      while (count > 0) {
        zeus_job_limit known[2];
        for (size_t i = 0; i < count; ++i) {
          known[i].limit = asked[i];
          known[i].epoch_time = 100.0;
          known[i].average_power = asked[i] * 0.8;
        }
        EXPECT(zeus_job_measured(job, known, count) == ZEUS_OK);
        count = 2;
        EXPECT(zeus_job_limits_to_measure(job, asked, &count) == ZEUS_OK);
      }
      EXPECT(zeus_job_get_try(job, &attempt) == ZEUS_OK);
      if (attempt.over) {
        break;
      }
      EXPECT(zeus_job_took(job, 100.0, 100.0 * 0.8 * attempt.limit, 1.0) == ZEUS_OK);
      EXPECT(zeus_job_report(job, 0.31 * ++epochs) == ZEUS_OK);
    }
  }
  EXPECT(zeus_job_reached(job, &go_on) == ZEUS_OK && go_on == 1);
  EXPECT(epochs == 3);
  EXPECT(zeus_job_get_summary(job, &summary) == ZEUS_OK);
  EXPECT(summary.recurrences == 2 && summary.reached == 1 && summary.best_cost > 0);
  EXPECT(isnan(summary.energy_saved) && strlen(summary.savings_unknown) > 0 && strlen(summary.next) > 0);
  zeus_job_close(job);
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  snprintf(store, sizeof(store), "%s/c_jobs_test.sqlite", argv[1]);
  remove(store);
  openings_that_make_no_sense();
  null_pointers_and_calls_out_of_order();
  a_recurrence();
  remove(store);
  return 0;
}
