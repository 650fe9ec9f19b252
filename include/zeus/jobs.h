/* A training that recurs, from C: the same job that `zeus run --job` and `zeus jobs` use, in the same store, with the
 * same decisions. zeus/job.hpp explains each item, and its rules of threads, forks and ends hold here too; those of
 * zeus/zeus.h hold for statuses, errors and structs. Link libzeus-jobs.so and libzeus.so.
 *
 *   zeus_job_definition definition = {.size = sizeof definition, .batch_sizes = sizes, .batch_size_count = 3,
 *                                     .default_batch_size = 64, .target = &accuracy};
 *   zeus_job* job = NULL;
 *   zeus_job_try attempt = {.size = sizeof attempt};
 *   int go_on = 0;
 *   if (zeus_job_open("nightly", &definition, NULL, &job) != ZEUS_OK) {
 *     fprintf(stderr, "%s\n", zeus_last_error());
 *   }
 *   while (zeus_job_next_try(job, &attempt, &go_on) == ZEUS_OK && go_on) {  // one recurrence
 *     begin_anew(attempt.seed);
 *     while (zeus_job_next_epoch(job, &go_on) == ZEUS_OK && go_on) {
 *       for (int step = 0; step < 512 / attempt.batch_size; ++step) {
 *         zeus_job_begin_step(job);
 *         learn(attempt.batch_size);
 *       }
 *       zeus_job_end_steps(job);
 *       zeus_job_report(job, evaluate());
 *     }
 *   }
 *   zeus_job_close(job); */
#ifndef ZEUS_JOBS_H
#define ZEUS_JOBS_H

#include <zeus/zeus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): names and keywords as in C */

typedef struct zeus_job zeus_job;

/* 0 and NULL mean the default everywhere. */
typedef struct zeus_job_definition {
  size_t size;            /* sizeof(zeus_job_definition) */
  const int* batch_sizes; /* NULL: there are none to choose from */
  size_t batch_size_count;
  int default_batch_size; /* 0: the only one */
  const double* target;   /* NULL: a training that runs to its end counts as reached */
  int lower_is_better;
  int max_epochs;             /* 0: as stored; for a new job, no bound */
  const double* eta;          /* NULL: 0.5 */
  const double* beta;         /* NULL: 2 */
  const double* max_slowdown; /* NULL: any */
  size_t window;              /* 0: all */
  const char* policy;         /* NULL: as stored; for a new job, the best */
  uint64_t seed;
} zeus_job_definition;

typedef struct zeus_job_options {
  size_t size;       /* sizeof(zeus_job_options) */
  const char* store; /* a file; NULL: the user's own */
  const int* gpus;   /* NULL: all */
  size_t gpu_count;
  int leave_limits;     /* not 0: limits stay as they are */
  const double* limits; /* watts to choose from; NULL: steps of 25 W */
  size_t limit_count;
  double profile_time;            /* seconds for each limit; 0: 5 */
  int (*synchronize)(void* data); /* waits for the GPUs; anything but 0 is a failure; may be NULL */
  void* synchronize_data;
  /* Devices in place of this machine's, which you measure and set; NULL: this machine's. `limits` are then theirs. */
  const char* elsewhere_model;
  unsigned elsewhere_count;   /* 0: 1 */
  double elsewhere_max_power; /* watts, of all of them together */
  const char* server;         /* the `zeus serve` that keeps it; NULL: $ZEUS_SERVER, or a store */
  double server_patience;     /* seconds to wait for it when nothing else is left to do; 0: 600 */
} zeus_job_options;

typedef struct zeus_job_try {
  size_t size; /* sizeof(zeus_job_try) */
  int batch_size;
  uint64_t seed;
  int max_epochs;    /* 0: not known yet */
  double cost_limit; /* joules; NAN: none */
  double limit;      /* watts; NAN: limits are measured */
  int over;          /* the loop may end */
  char why[256];
} zeus_job_try;

/* Time and power of an epoch under a limit. It has no size, since it comes in arrays. */
typedef struct zeus_job_limit {
  double limit;
  double epoch_time;
  double average_power;
} zeus_job_limit;

/* Compared with running the default every time; half-widths are those of 95 % intervals; an unknown number is NAN. */
typedef struct zeus_job_summary {
  size_t size; /* sizeof(zeus_job_summary) */
  uint64_t recurrences;
  uint64_t reached;
  uint64_t tries;
  double best_cost;
  uint64_t recurrences_counted;
  double energy_saved;
  double energy_saved_uncertainty;
  double energy_of_default;
  double time_saved;
  double time_saved_uncertainty;
  double time_of_default;
  double cost_saved;
  double cost_saved_uncertainty;
  double cost_of_default;
  char savings_unknown[192]; /* why the savings are unknown; empty if they are known */
  char next[256];            /* what would be done next, and why */
} zeus_job_summary;

/* If `definition` is NULL, the job exists and keeps its definition. `options` may be NULL. */
ZEUS_C_API zeus_status zeus_job_open(const char* name, const zeus_job_definition* definition,
                                     const zeus_job_options* options, zeus_job** job);
/* Gives up a recurrence that is not over. zeus_job_close(NULL) does nothing. */
ZEUS_C_API void zeus_job_close(zeus_job* job);

/* If *go_on is not 0 afterwards, `attempt` is what to train next; otherwise the recurrence is over. `attempt` may be
 * NULL. */
ZEUS_C_API zeus_status zeus_job_next_try(zeus_job* job, zeus_job_try* attempt, int* go_on);
/* The try as it is now: while limits are measured, limit and bounds are not known yet. */
ZEUS_C_API zeus_status zeus_job_get_try(zeus_job* job, zeus_job_try* attempt);
ZEUS_C_API zeus_status zeus_job_next_epoch(zeus_job* job, int* go_on);
ZEUS_C_API zeus_status zeus_job_begin_step(zeus_job* job);
ZEUS_C_API zeus_status zeus_job_end_steps(zeus_job* job);
ZEUS_C_API zeus_status zeus_job_report(zeus_job* job, double metric);
/* Reports that the try has failed, say for lack of memory. */
ZEUS_C_API zeus_status zeus_job_fail(zeus_job* job);

/* Only with devices elsewhere. `energy` is NAN if it is unknown. */
ZEUS_C_API zeus_status zeus_job_took(zeus_job* job, double time, double energy, double uncertainty);
/* Writes up to *count limits, and sets *count to their total number. */
ZEUS_C_API zeus_status zeus_job_limits_to_measure(zeus_job* job, double* limits, size_t* count);
ZEUS_C_API zeus_status zeus_job_measured(zeus_job* job, const zeus_job_limit* limits, size_t count);

/* Whether the last recurrence has reached its target. */
ZEUS_C_API zeus_status zeus_job_reached(zeus_job* job, int* reached);
ZEUS_C_API zeus_status zeus_job_get_summary(zeus_job* job, zeus_job_summary* summary);

/* NOLINTEND(readability-identifier-naming, modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
