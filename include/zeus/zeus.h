/* Zeus for any language: windows of time and the energy that GPUs, CPU packages and memory used in them, and training
 * loops that cost less energy.
 *
 *   zeus_monitor* monitor = NULL;
 *   zeus_measurement* measured = NULL;
 *   zeus_energy energy = {.size = sizeof energy};
 *   if (zeus_monitor_open(NULL, &monitor) == ZEUS_OK && zeus_begin(monitor, "epoch") == ZEUS_OK) {
 *     train();
 *     if (zeus_end(monitor, "epoch", &measured) == ZEUS_OK &&
 *         zeus_measurement_energy(measured, ZEUS_ALL_GPUS, 0, &energy) == ZEUS_OK && energy.known) {
 *       printf("%.1f +- %.3g J\n", energy.value, energy.uncertainty);
 *     }
 *   }
 *   zeus_measurement_free(measured);
 *   zeus_monitor_close(monitor);
 *
 * Any thread may call any function. Functions throw nothing and return a zeus_status; after a failure,
 * zeus_last_error() says what happened to what and what to do, for the calling thread. Structs begin with their size,
 * which the caller sets: a library with more fields than its caller knows leaves the rest alone, and one with fewer
 * fills the fields that it knows. Structs that come in arrays (zeus_power, zeus_temperature) have no size and never
 * change. Energies are in joules, times in seconds on the monotonic clock of this machine. An unknown number is NAN; an
 * unknown energy has known = 0. */
#ifndef ZEUS_ZEUS_H
#define ZEUS_ZEUS_H

#include <stddef.h>
#include <stdint.h>

#define ZEUS_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): names and keywords as in C */

typedef enum zeus_status {
  ZEUS_OK = 0,
  ZEUS_INVALID_ARGUMENT = 1,
  ZEUS_NOT_FOUND = 2,
  ZEUS_ALREADY_EXISTS = 3,
  ZEUS_PERMISSION_DENIED = 4,
  ZEUS_UNAVAILABLE = 5,
  ZEUS_CONFLICT = 6,
  ZEUS_TIMEOUT = 7,
  ZEUS_CORRUPT_DATA = 8,
  ZEUS_INTERNAL = 9
} zeus_status;

typedef enum zeus_method { ZEUS_COUNTER = 0, ZEUS_INTEGRATED = 1, ZEUS_ESTIMATE = 2 } zeus_method;

typedef struct zeus_monitor zeus_monitor;
typedef struct zeus_measurement zeus_measurement;

typedef struct zeus_options {
  size_t size;     /* sizeof(zeus_options) */
  const int* gpus; /* NULL: all */
  size_t gpu_count;
  const int* cpus; /* NULL: all */
  size_t cpu_count;
  int (*synchronize)(void* data); /* waits for the GPUs before each edge; not 0: the window is dropped; may be NULL */
  void* synchronize_data;
  const char* log;          /* path of a CSV log; may be NULL */
  const char* complete_log; /* path of a CSV log with everything; may be NULL */
} zeus_options;

typedef struct zeus_energy {
  size_t size; /* sizeof(zeus_energy) */
  int known;
  double value;
  double uncertainty; /* half-width of the 95 % interval */
  double systematic;  /* calibration bound, NAN if unknown */
  zeus_method method;
  char reason[192]; /* why it is unknown, or what a careful reader should know */
} zeus_energy;

typedef struct zeus_window {
  size_t size; /* sizeof(zeus_window) */
  double start;
  double end;
  int settled; /* waiting longer would not change it */
  int gpu_count;
  int cpu_count;
} zeus_window;

typedef enum zeus_device { ZEUS_GPU = 0, ZEUS_CPU = 1, ZEUS_DRAM = 2, ZEUS_ALL_GPUS = 3 } zeus_device;

typedef enum zeus_throttle_reason {
  ZEUS_THROTTLE_POWER_CAP = 1,  /* the power limit */
  ZEUS_THROTTLE_THERMAL = 2,    /* the temperature */
  ZEUS_THROTTLE_SYNC_BOOST = 4, /* a slower GPU of the same group */
  ZEUS_THROTTLE_POWER_BRAKE = 8 /* a signal from outside, such as the power supply's */
} zeus_throttle_reason;

/* For how many seconds of a window each cause held a GPU's clocks back; NAN if the driver does not count it. */
typedef struct zeus_throttle {
  size_t size;      /* sizeof(zeus_throttle) */
  unsigned reasons; /* zeus_throttle_reason: bits of the causes that held at all */
  double power_cap;
  double thermal;
  double sync_boost;
  double power_brake;
} zeus_throttle;

typedef struct zeus_power {
  double at;
  double watts;
} zeus_power;

typedef struct zeus_temperature {
  double at;
  double celsius;
} zeus_temperature;

/* Seconds since the process began to measure. */
typedef struct zeus_sampler_cost {
  size_t size;    /* sizeof(zeus_sampler_cost) */
  double running; /* in which the sampler's thread has run */
  double busy;    /* the part spent on its own work */
  double driver;  /* the part spent inside the driver's calls */
} zeus_sampler_cost;

/* The version of the headers that the program was built with. */
#define ZEUS_HEADER_VERSION "0.1.0"

/* The version of the library in use. */
ZEUS_C_API const char* zeus_version(void);
ZEUS_C_API const char* zeus_last_error(void);
/* For libraries on top of this one: sets what zeus_last_error() returns next in this thread. */
ZEUS_C_API void zeus_set_last_error(const char* text);

/* `options` may be NULL. zeus_monitor_close(NULL) does nothing. */
ZEUS_C_API zeus_status zeus_monitor_open(const zeus_options* options, zeus_monitor** monitor);
ZEUS_C_API void zeus_monitor_close(zeus_monitor* monitor);

ZEUS_C_API zeus_status zeus_begin(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_restart(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_cancel(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_reset(zeus_monitor* monitor);
/* Gives the best estimate at once; the caller owns the measurement and frees it. */
ZEUS_C_API zeus_status zeus_end(zeus_monitor* monitor, const char* window, zeus_measurement** measurement);
/* The best estimate of an open window from its beginning to now; the window goes on. Does not call `synchronize`. */
ZEUS_C_API zeus_status zeus_so_far(zeus_monitor* monitor, const char* window, zeus_measurement** measurement);
/* Waits until the measurement cannot get any better, for at most `patience` seconds. */
ZEUS_C_API zeus_status zeus_settle(zeus_monitor* monitor, zeus_measurement* measurement, double patience);
ZEUS_C_API void zeus_measurement_free(zeus_measurement* measurement);

ZEUS_C_API zeus_status zeus_measurement_window(const zeus_measurement* measurement, zeus_window* window);
/* `index` is the device's number; ignored for ZEUS_ALL_GPUS. */
ZEUS_C_API zeus_status zeus_measurement_energy(const zeus_measurement* measurement, zeus_device device, int index,
                                               zeus_energy* energy);
ZEUS_C_API zeus_status zeus_measurement_throttle(const zeus_measurement* measurement, int gpu, zeus_throttle* throttle);

/* Keeps the sampler running until the monitor is closed. */
ZEUS_C_API zeus_status zeus_listen(zeus_monitor* monitor);
/* Writes up to `*count` readings later than `since`, oldest first, and sets `*count` to their total number. */
ZEUS_C_API zeus_status zeus_power_timeline(zeus_monitor* monitor, int gpu, double since, zeus_power* readings,
                                           size_t* count);
ZEUS_C_API zeus_status zeus_temperature_timeline(zeus_monitor* monitor, int gpu, double since,
                                                 zeus_temperature* readings, size_t* count);
/* What measuring costs this process: one sampler serves all of its monitors. */
ZEUS_C_API zeus_status zeus_sampler_costs(zeus_monitor* monitor, zeus_sampler_cost* cost);

/* A training loop that costs less energy: profiles power limits while it trains, applies the best one, accounts for
 * time, energy and cost, and says when to stop. Whatever happens, the GPUs end up with the limits that they had before.
 *
 *   zeus_training_options options = {.size = sizeof options, .target = &accuracy, .max_epochs = 100};
 *   zeus_training* training = NULL;
 *   int go_on = 0;
 *   if (zeus_training_open(&options, &training) != ZEUS_OK) {
 *     fprintf(stderr, "%s\n", zeus_last_error());
 *   }
 *   while (zeus_training_next_epoch(training, &go_on) == ZEUS_OK && go_on) {
 *     for (int step = 0; step < steps; ++step) {
 *       zeus_training_begin_step(training);
 *       learn(step);
 *     }
 *     zeus_training_end_steps(training);
 *     zeus_training_report(training, evaluate());
 *   }
 *   zeus_training_result result = {.size = sizeof result};
 *   if (zeus_training_get_result(training, &result) == ZEUS_OK) {
 *     printf("%.1f +- %.3g J\n", result.energy, result.energy_uncertainty);
 *   }
 *   zeus_training_close(training);
 *
 * Each function corresponds to the member of zeus::Training (zeus/train.hpp) with that name, and has the same rules,
 * also in a forked child and inside `zeus run`. One thread at a time. A call out of order is ZEUS_INVALID_ARGUMENT. If
 * an optional pointer is NULL, the library chooses. */
typedef struct zeus_training zeus_training;

typedef enum zeus_training_mode {
  ZEUS_TRAINING_OPTIMIZE = 0, /* profile, then apply the setting that suits the goal best */
  ZEUS_TRAINING_OBSERVE = 1,  /* profile, set limits only for that, and report what the best would have cost */
  ZEUS_TRAINING_PASSIVE = 2   /* set nothing at all */
} zeus_training_mode;

typedef enum zeus_goal {
  ZEUS_LEAST_COST = 0, /* eta x energy + (1 - eta) x highest limits x time */
  ZEUS_LEAST_TIME = 1,
  ZEUS_LEAST_ENERGY = 2,
  ZEUS_MAX_SLOWDOWN = 3 /* the least energy within `max_slowdown` times the shortest time */
} zeus_goal;

typedef enum zeus_stop_reason {
  ZEUS_NOT_STOPPED = 0,
  ZEUS_TARGET_REACHED = 1,
  ZEUS_EPOCHS_USED_UP = 2,
  ZEUS_TOO_EXPENSIVE = 3
} zeus_stop_reason;

/* 0 and NULL mean the default everywhere. */
typedef struct zeus_training_options {
  size_t size; /* sizeof(zeus_training_options) */
  zeus_training_mode mode;
  zeus_goal goal;
  double max_slowdown;  /* for ZEUS_MAX_SLOWDOWN; 0: 1.1 */
  const double* eta;    /* NULL: 0.5 */
  const double* target; /* the metric to reach; NULL: none */
  int lower_is_better;
  uint64_t max_epochs;      /* 0: no bound */
  const double* cost_limit; /* joules of cost; NULL: none */
  const int* gpus;          /* NULL: all */
  size_t gpu_count;
  int (*synchronize)(void* data); /* waits for the GPUs; anything but 0 is a failure; may be NULL */
  void* synchronize_data;
  const double* limits; /* watts to choose from; NULL: steps of 25 W */
  size_t limit_count;
  uint64_t batch_size;      /* a profile is kept for each; 0: none given */
  uint64_t steps_per_epoch; /* if it is known beforehand; 0: it is not */
  const char* profile_file; /* where profiles are kept; may be NULL */
  const char* result_file;  /* written at the end; may be NULL */
} zeus_training_options;

/* The result so far, or of the whole training once it is finished. An unknown number is NAN. */
typedef struct zeus_training_result {
  size_t size; /* sizeof(zeus_training_result) */
  zeus_stop_reason stopped_by;
  uint64_t epochs;
  double time;
  double energy;
  double energy_uncertainty; /* half-width of the 95 % interval, as below */
  double cost;
  double metric; /* the last one */
  double limit;  /* the best one, of each GPU */
  double clock;  /* the best one in MHz, if clocks are locked */
  int applied;   /* these are (or were) in force */
  uint64_t profiling_steps;
  double profiling_time;
  /* What the run would have taken at the best setting; for the modes that observe. */
  double predicted_time;
  double predicted_time_uncertainty;
  double predicted_energy;
  double predicted_energy_uncertainty;
  double predicted_cost;
  double predicted_cost_uncertainty;
  char no_prediction[192]; /* why there is none */
  char unoptimized[192];   /* why the GPUs were left alone; usually empty */
} zeus_training_result;

typedef struct zeus_epoch {
  size_t size;     /* sizeof(zeus_epoch) */
  uint64_t number; /* from 1 */
  uint64_t steps;
  double time;
  double energy;
  double energy_uncertainty;
  double cost;
  double metric;
  int profiled; /* limits were measured in this epoch */
} zeus_epoch;

/* `options` may be NULL. zeus_training_close(NULL) does nothing. */
ZEUS_C_API zeus_status zeus_training_open(const zeus_training_options* options, zeus_training** training);
ZEUS_C_API void zeus_training_close(zeus_training* training);
/* Ends the current epoch, and begins another one if *go_on is not 0 afterwards. */
ZEUS_C_API zeus_status zeus_training_next_epoch(zeus_training* training, int* go_on);
ZEUS_C_API zeus_status zeus_training_begin_epoch(zeus_training* training);
ZEUS_C_API zeus_status zeus_training_end_epoch(zeus_training* training);
ZEUS_C_API zeus_status zeus_training_begin_step(zeus_training* training);
ZEUS_C_API zeus_status zeus_training_progress(zeus_training* training, uint64_t steps);
ZEUS_C_API zeus_status zeus_training_end_steps(zeus_training* training);
ZEUS_C_API zeus_status zeus_training_report(zeus_training* training, double metric);
ZEUS_C_API zeus_status zeus_training_set_target(zeus_training* training, double metric, int lower_is_better);
ZEUS_C_API zeus_status zeus_training_set_batch_size(zeus_training* training, uint64_t batch_size);
ZEUS_C_API zeus_status zeus_training_stop_reason(const zeus_training* training, zeus_stop_reason* reason);
ZEUS_C_API zeus_status zeus_training_is_profiling(const zeus_training* training, int* profiling);
ZEUS_C_API zeus_status zeus_training_finish(zeus_training* training);
ZEUS_C_API zeus_status zeus_training_get_result(const zeus_training* training, zeus_training_result* result);
/* `index` counts from 0. */
ZEUS_C_API zeus_status zeus_training_get_epoch(const zeus_training* training, uint64_t index, zeus_epoch* epoch);

/* NOLINTEND(readability-identifier-naming, modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
