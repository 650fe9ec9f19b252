/* The same as kept_job.cpp, for C, and with a course of its own: each batch size reaches the target after four epochs,
 * at 50 to 200 s each. */
#include <zeus/jobs.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(zeus_status status) {
  if (status != ZEUS_OK) {
    fprintf(stderr, "%s\n", zeus_last_error());
    exit(1);
  }
}

static void pause_for(const char* milliseconds) {
  if (milliseconds != NULL) {
    const long all = atol(milliseconds);
    const struct timespec time = {.tv_sec = all / 1000, .tv_nsec = all % 1000 * 1000000L};
    nanosleep(&time, NULL);
  } else {
    (void)getchar();
  }
}

static double epoch_time(const zeus_job_try* attempt) {
  return 25.0 + 2800.0 / attempt->batch_size * (attempt->limit < 200.0 ? 1.2 : 1.0);
}

static void measure(zeus_job* job, const zeus_job_try* attempt) {
  double asked[2];
  zeus_job_limit known[2];
  size_t count = 2;
  size_t i = 0;
  check(zeus_job_limits_to_measure(job, asked, &count));
  for (i = 0; i < count; ++i) {
    zeus_job_try under = *attempt;
    under.limit = asked[i];
    known[i].limit = asked[i];
    known[i].epoch_time = epoch_time(&under);
    known[i].average_power = asked[i] * 0.8;
  }
  if (count > 0) {
    check(zeus_job_measured(job, known, count));
  }
}

static void train(zeus_job* job, const char* milliseconds) {
  zeus_job_try attempt = {.size = sizeof(attempt)};
  int go_on = 0;
  int epoch = 0;
  for (check(zeus_job_next_epoch(job, &go_on)); go_on; check(zeus_job_next_epoch(job, &go_on))) {
    check(zeus_job_get_try(job, &attempt));
    printf("epoch %d %d\n", attempt.batch_size, ++epoch);
    fflush(stdout);
    pause_for(milliseconds);
    measure(job, &attempt);
    check(zeus_job_get_try(job, &attempt));
    attempt.limit = isnan(attempt.limit) ? 250.0 : attempt.limit;
    check(zeus_job_took(job, epoch_time(&attempt), epoch_time(&attempt) * 0.8 * attempt.limit, 1.0));
    check(zeus_job_report(job, 0.25 * epoch));
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {16, 32, 64};
  static const double limits[] = {100.0, 250.0};
  const double target = 0.95;
  const int is_server = argc > 3 && strchr(argv[1], ':') != NULL;
  const zeus_job_definition definition = {.size = sizeof(definition),
                                          .batch_sizes = sizes,
                                          .batch_size_count = 3,
                                          .default_batch_size = 32,
                                          .target = &target,
                                          .max_epochs = 9};
  const zeus_job_options options = {.size = sizeof(options),
                                    .store = is_server || argv[1][0] == '\0' ? NULL : argv[1],
                                    .limits = limits,
                                    .limit_count = 2,
                                    .elsewhere_model = "V100",
                                    .elsewhere_max_power = 250.0,
                                    .server = is_server ? argv[1] : NULL};
  zeus_job* job = NULL;
  int recurrence = 0;
  int go_on = 0;
  check(zeus_job_open(argv[2], &definition, &options, &job));
  for (recurrence = 0; recurrence < atoi(argv[3]); ++recurrence) {
    for (check(zeus_job_next_try(job, NULL, &go_on)); go_on; check(zeus_job_next_try(job, NULL, &go_on))) {
      train(job, argc > 4 ? argv[4] : NULL);
      puts("model");
      fflush(stdout);
    }
    check(zeus_job_reached(job, &go_on));
    printf("recurrence %s\n", go_on ? "reached" : "missed");
    fflush(stdout);
  }
  zeus_job_close(job);
  return 0;
}
