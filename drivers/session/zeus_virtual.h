/* The extra interface of the virtual drivers, in C, for tests and demonstrations: what a real driver does not offer.
 * Both libnvidia-ml.so.1 and libamd_smi.so of `zeus virtual` export it; look the functions up with dlsym in the one
 * that the program has loaded. They work on the session of the running command, whether the vendor's own init was
 * called or not. Any thread may call them. The caller owns nothing; strings are copied. docs/virtual.md explains loads,
 * faults and true values. */
#ifndef ZEUS_VIRTUAL_H
#define ZEUS_VIRTUAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZEUS_VIRTUAL_API __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-identifier-naming): the names of C */

enum {
  ZEUS_VIRTUAL_OK = 0,
  ZEUS_VIRTUAL_NO_SESSION = 1, /* this process was not started by `zeus virtual`, or its session is gone */
  ZEUS_VIRTUAL_INVALID = 2,    /* zeus_virtual_last_error() says what */
  ZEUS_VIRTUAL_FAILED = 3      /* likewise */
};

/* All GPUs, in place of an index. */
#define ZEUS_VIRTUAL_ALL_GPUS 0xffffffffU

/* The true state of a GPU at a moment, whatever its sensors show. */
struct zeus_virtual_truth {
  double time_s;   /* on the session's clock: CLOCK_MONOTONIC unless it was moved */
  double energy_j; /* since the session began */
  double power_w;
  double work_s; /* work done, in seconds at the highest clock without a limit */
  double speed;  /* work per time, 1 at the highest clock without a limit */
  double clock_mhz;
  double temperature_c;
};

/* One call into a virtual driver by any process of the session. */
struct zeus_virtual_call {
  uint64_t number; /* counted over all processes */
  double time_s;
  int32_t process;
  int32_t gpu; /* -1: of no GPU */
  int32_t result;
  char entry_point[64];
};

ZEUS_VIRTUAL_API int zeus_virtual_gpu_count(unsigned* count);

/* Puts a load on a GPU, as on the command line: "idle", "constant:200W", "square:80-300W,200ms",
 * "work:BUSY,ACTIVITY,MEMORY" (three shares of 1). This process counts as its user; the load stays until the next one.
 */
ZEUS_VIRTUAL_API int zeus_virtual_submit_load(unsigned gpu, const char* load);

ZEUS_VIRTUAL_API int zeus_virtual_read_truth(unsigned gpu, struct zeus_virtual_truth* truth);

/* The true energy at a moment of the last minute, on the clock of `time_s` above: exact however late it is asked for,
 * unless the GPU's load or limits have changed dozens of times since. */
ZEUS_VIRTUAL_API int zeus_virtual_read_energy(unsigned gpu, double time_s, double* energy_j);

/* One line as in a file of faults; `from` counts from the session's beginning, and is now if it is left out. */
ZEUS_VIRTUAL_API int zeus_virtual_add_fault(const char* line);
ZEUS_VIRTUAL_API int zeus_virtual_clear_faults(void);

/* Moves the clock of the whole session forward, or stops it and starts it again: an hour passes at once. */
ZEUS_VIRTUAL_API int zeus_virtual_advance_clock(double seconds);
ZEUS_VIRTUAL_API int zeus_virtual_run_clock(int running);

/* The calls numbered `first` and later that are still in the log (some thousands), oldest first: writes up to *count of
 * them, and sets *count to how many. */
ZEUS_VIRTUAL_API int zeus_virtual_read_calls(uint64_t first, struct zeus_virtual_call* calls, unsigned* count);

/* Why the last call of this thread did not return ZEUS_VIRTUAL_OK; valid until its next call. */
ZEUS_VIRTUAL_API const char* zeus_virtual_last_error(void);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
