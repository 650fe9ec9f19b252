/* A training that recurs, from C: the job that `zeus run --job` and `zeus jobs` know, in the same store, with the same
 * decisions. zeus/job.hpp says what each of these means, and its rules of threads, forks and ends hold here too; those
 * of zeus/zeus.h hold for statuses, errors and structs. Link libzeus-jobs.so and libzeus.so.
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

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): the names and words of C */

typedef struct zeus_job zeus_job;

/* 0 and NULL are the usual choice everywhere. */
typedef struct zeus_job_definition {
  size_t size;            /* sizeof(zeus_job_definition) */
  const int* batch_sizes; /* NULL: there are none to choose from */
  size_t batch_size_count;
  int default_batch_size; /* 0: the only one */
  const double* target;   /* NULL: a training that comes to its end has reached it */
  int lower_is_better;
  int max_epochs;             /* 0: as the job has it; of a new one, any number */
  const double* eta;          /* NULL: 0.5 */
  const double* beta;         /* NULL: 2 */
  const double* max_slowdown; /* NULL: any */
  size_t window;              /* 0: all */
  const char* policy;         /* NULL: as the job has it; of a new one, the best */
  uint64_t seed;
} zeus_job_definition;

typedef struct zeus_job_options {
  size_t size;       /* sizeof(zeus_job_options) */
  const char* store; /* a file; NULL: the user's own */
  const int* gpus;   /* NULL: all */
  size_t gpu_count;
  int leave_limits;     /* not 0: those in force stay */
  const double* limits; /* watts to choose from; NULL: steps of 25 W */
  size_t limit_count;
  double profile_time;            /* seconds for each limit; 0: 5 */
  int (*synchronize)(void* data); /* waits for the GPUs; not 0 is a failure; may be NULL */
  void* synchronize_data;
  /* Devices in place of the machine's, which you measure and set; NULL: the machine's. `limits` are theirs then. */
  const char* elsewhere_model;
  unsigned elsewhere_count;   /* 0: 1 */
  double elsewhere_max_power; /* watts, of all of them */
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

/* What an epoch takes under a limit. Has no size, as it comes in arrays. */
typedef struct zeus_job_limit {
  double limit;
  double epoch_time;
  double average_power;
} zeus_job_limit;

/* Against running the default every time; half-widths are those of 95 % intervals; NAN is what is not known. */
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
  char savings_unknown[192]; /* why; empty where they are known */
  char next[256];            /* what would be done now, and why */
} zeus_job_summary;

/* `definition` may be NULL: then the job exists, and stays as it is defined. `options` may be NULL. */
ZEUS_C_API zeus_status zeus_job_open(const char* name, const zeus_job_definition* definition,
                                     const zeus_job_options* options, zeus_job** job);
/* Within a recurrence it is given up. zeus_job_close(NULL) is nothing. */
ZEUS_C_API void zeus_job_close(zeus_job* job);

/* Where *go_on is not 0, `attempt` is what to train now; otherwise the recurrence is over. `attempt` may be NULL. */
ZEUS_C_API zeus_status zeus_job_next_try(zeus_job* job, zeus_job_try* attempt, int* go_on);
/* The try as it stands: what is measured at first has its limit and bounds later. */
ZEUS_C_API zeus_status zeus_job_get_try(zeus_job* job, zeus_job_try* attempt);
ZEUS_C_API zeus_status zeus_job_next_epoch(zeus_job* job, int* go_on);
ZEUS_C_API zeus_status zeus_job_begin_step(zeus_job* job);
ZEUS_C_API zeus_status zeus_job_end_steps(zeus_job* job);
ZEUS_C_API zeus_status zeus_job_report(zeus_job* job, double metric);
/* The try has failed, as by lack of memory. */
ZEUS_C_API zeus_status zeus_job_fail(zeus_job* job);

/* With devices elsewhere alone. `energy` may be NAN: it is not known. */
ZEUS_C_API zeus_status zeus_job_took(zeus_job* job, double time, double energy, double uncertainty);
/* Writes up to *count of them, and sets *count to how many there are. */
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
