/* One recurrence of the job "slope", from C: at the batch size and power limit that were cheapest so far. */
#include <stdio.h>
#include <time.h>
#include <zeus/jobs.h>

static void learn(double* error, int batch_size) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000L + 20000L * batch_size}, NULL);
  *error *= 1.0 - 0.002 * batch_size / (batch_size + 64.0);
}

int main(void) {
  const int sizes[] = {32, 64, 128};
  const double target = 0.5;
  zeus_job_definition definition = {.size = sizeof definition,
                                    .batch_sizes = sizes,
                                    .batch_size_count = 3,
                                    .default_batch_size = 64,
                                    .target = &target};
  zeus_job_try attempt = {.size = sizeof attempt};
  zeus_job* job = NULL;
  int go_on = 0, reached = 0;
  zeus_status status = zeus_job_open("slope", &definition, NULL, &job);
  while (status == ZEUS_OK && (status = zeus_job_next_try(job, &attempt, &go_on)) == ZEUS_OK && go_on) {
    double error = 1.0;
    printf("batch size %d: %s\n", attempt.batch_size, attempt.why);
    while ((status = zeus_job_next_epoch(job, &go_on)) == ZEUS_OK && go_on) {
      for (int seen = 0; seen < 4096; seen += attempt.batch_size) {
        zeus_job_begin_step(job);
        learn(&error, attempt.batch_size);
      }
      zeus_job_end_steps(job);
      zeus_job_report(job, 1.0 - error);
    }
  }
  const int known = status == ZEUS_OK && zeus_job_reached(job, &reached) == ZEUS_OK;
  printf("%s\n", !known ? zeus_last_error() : reached ? "reached" : "not reached");
  zeus_job_close(job);
  return reached ? 0 : 1;
}
