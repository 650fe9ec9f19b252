/* Zeus for any language: windows of time and the energy that GPUs, CPU packages and memory used in them.
 *
 * Every function may be called from any thread, throws nothing, and returns a zeus_status; after a failure,
 * zeus_last_error() says what happened to what and what to do, for the calling thread. Structs begin with their size,
 * which the caller sets: a library that knows more fields than its caller leaves the rest alone, and one that knows
 * fewer fills what it knows. Those that come in arrays (zeus_power, zeus_temperature) have no size and stay as they
 * are. Energies are joules, times are seconds on the monotonic clock of this machine. What is not known is NAN, of an
 * energy with known = 0. */
#ifndef ZEUS_ZEUS_H
#define ZEUS_ZEUS_H

#include <stddef.h>
#include <stdint.h>

#define ZEUS_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): the names and words of C */

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
  int (*synchronize)(void* data); /* waits for the GPUs before each edge; not 0 is a failure; may be NULL */
  void* synchronize_data;
  const char* log;          /* path of a CSV log; may be NULL */
  const char* complete_log; /* path of a CSV log with everything; may be NULL */
} zeus_options;

typedef struct zeus_energy {
  size_t size; /* sizeof(zeus_energy) */
  int known;
  double value;
  double uncertainty; /* half-width of the 95 % interval */
  double systematic;  /* calibration bound, NAN where unknown */
  zeus_method method;
  char reason[192]; /* why it is not known, or what a careful reader should know */
} zeus_energy;

typedef struct zeus_window {
  size_t size; /* sizeof(zeus_window) */
  double start;
  double end;
  int settled; /* waiting longer would change nothing */
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

/* For how many seconds of a window each cause held a GPU's clocks back; NAN where the driver does not count it. */
typedef struct zeus_throttle {
  size_t size;      /* sizeof(zeus_throttle) */
  unsigned reasons; /* zeus_throttle_reason: those that held at all */
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
  double running; /* for which the sampler's thread has run */
  double busy;    /* of them, spent on its own work */
  double driver;  /* of them, spent inside the driver's calls */
} zeus_sampler_cost;

ZEUS_C_API const char* zeus_version(void);
ZEUS_C_API const char* zeus_last_error(void);

/* `options` may be NULL. zeus_monitor_close(NULL) is nothing. */
ZEUS_C_API zeus_status zeus_monitor_open(const zeus_options* options, zeus_monitor** monitor);
ZEUS_C_API void zeus_monitor_close(zeus_monitor* monitor);

ZEUS_C_API zeus_status zeus_begin(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_restart(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_cancel(zeus_monitor* monitor, const char* window);
ZEUS_C_API zeus_status zeus_reset(zeus_monitor* monitor);
/* The best estimate at once; the measurement is the caller's, to be freed. */
ZEUS_C_API zeus_status zeus_end(zeus_monitor* monitor, const char* window, zeus_measurement** measurement);
/* Waits until it cannot become any better, for `patience` seconds at most. */
ZEUS_C_API zeus_status zeus_settle(zeus_monitor* monitor, zeus_measurement* measurement, double patience);
ZEUS_C_API void zeus_measurement_free(zeus_measurement* measurement);

ZEUS_C_API zeus_status zeus_measurement_window(const zeus_measurement* measurement, zeus_window* window);
/* `index` is the device's number; ignored for ZEUS_ALL_GPUS. */
ZEUS_C_API zeus_status zeus_measurement_energy(const zeus_measurement* measurement, zeus_device device, int index,
                                               zeus_energy* energy);
ZEUS_C_API zeus_status zeus_measurement_throttle(const zeus_measurement* measurement, int gpu, zeus_throttle* throttle);

/* Keeps the sampler running until the monitor is closed. */
ZEUS_C_API zeus_status zeus_listen(zeus_monitor* monitor);
/* Writes up to `*count` readings later than `since`, oldest first, and sets `*count` to how many there are. */
ZEUS_C_API zeus_status zeus_power_timeline(zeus_monitor* monitor, int gpu, double since, zeus_power* readings,
                                           size_t* count);
ZEUS_C_API zeus_status zeus_temperature_timeline(zeus_monitor* monitor, int gpu, double since,
                                                 zeus_temperature* readings, size_t* count);
/* What measuring costs the process: one sampler serves all of its monitors. */
ZEUS_C_API zeus_status zeus_sampler_costs(zeus_monitor* monitor, zeus_sampler_cost* cost);

/* NOLINTEND(readability-identifier-naming, modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
