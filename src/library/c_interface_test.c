/* zeus.h from C: it compiles as C, misuse returns an error, and windows work with any devices. Its argument is the
 * number of a GPU that is held back by its power limit, if there is one. Exits with 0, or prints the line that failed.
 */
#include <zeus/zeus.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPECT(condition)                                                                         \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "line %d: %s (last error: %s)\n", __LINE__, #condition, zeus_last_error()); \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

static int fail_to_synchronize(void* data) {
  ++*(int*)data;
  return 7;
}

static void* many_windows(void* data) {
  zeus_monitor* monitor = data;
  char name[64];
  for (int i = 0; i < 200; ++i) {
    zeus_measurement* measurement = NULL;
    snprintf(name, sizeof(name), "%p/%d", (void*)&name, i);
    EXPECT(zeus_begin(monitor, name) == ZEUS_OK);
    EXPECT(zeus_end(monitor, name, &measurement) == ZEUS_OK);
    zeus_measurement_free(measurement);
  }
  return NULL;
}

static void misuse(zeus_monitor* monitor) {
  zeus_measurement* measurement = NULL;
  EXPECT(zeus_end(monitor, "never begun", &measurement) == ZEUS_NOT_FOUND);
  EXPECT(measurement == NULL);
  EXPECT(strstr(zeus_last_error(), "never begun") != NULL);
  EXPECT(zeus_begin(NULL, "w") == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_begin(monitor, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_begin(monitor, "w") == ZEUS_OK);
  EXPECT(zeus_begin(monitor, "w") == ZEUS_ALREADY_EXISTS);
  EXPECT(zeus_restart(monitor, "w") == ZEUS_OK);
  EXPECT(zeus_cancel(monitor, "w") == ZEUS_OK);
  EXPECT(zeus_cancel(monitor, "w") == ZEUS_NOT_FOUND);
  EXPECT(zeus_reset(monitor) == ZEUS_OK);
  zeus_measurement_free(NULL);
  zeus_monitor_close(NULL);
}

static void options(void) {
  zeus_monitor* monitor = NULL;
  zeus_options given;
  int missing = 4711;
  int calls = 0;
  memset(&given, 0, sizeof(given));
  EXPECT(zeus_monitor_open(&given, &monitor) == ZEUS_INVALID_ARGUMENT); /* its size is not set */
  given.size = sizeof(given);
  given.gpus = &missing;
  given.gpu_count = 1;
  EXPECT(zeus_monitor_open(&given, &monitor) == ZEUS_NOT_FOUND);
  EXPECT(monitor == NULL);
  given.gpus = NULL;
  given.log = "/proc/nowhere/log.csv";
  EXPECT(zeus_monitor_open(&given, &monitor) != ZEUS_OK);
  given.log = NULL;
  given.synchronize = fail_to_synchronize;
  given.synchronize_data = &calls;
  EXPECT(zeus_monitor_open(&given, &monitor) == ZEUS_OK);
  EXPECT(zeus_begin(monitor, "w") == ZEUS_UNAVAILABLE);
  EXPECT(calls == 1);
  zeus_monitor_close(monitor);
  /* A caller built for an older version, whose struct ended after the GPUs. */
  given.size = offsetof(zeus_options, cpus);
  EXPECT(zeus_monitor_open(&given, &monitor) == ZEUS_OK);
  EXPECT(zeus_begin(monitor, "w") == ZEUS_OK);
  zeus_monitor_close(monitor);
}

/* The estimate of an open window began when the window did, and was made before it ended. */
static void expect_within(const zeus_measurement* so_far, const zeus_measurement* whole) {
  zeus_window part;
  zeus_window window;
  part.size = sizeof(part);
  window.size = sizeof(window);
  EXPECT(zeus_measurement_window(so_far, &part) == ZEUS_OK && zeus_measurement_window(whole, &window) == ZEUS_OK);
  EXPECT(part.start == window.start && part.start <= part.end && part.end <= window.end);
  EXPECT(part.gpu_count == window.gpu_count && part.settled == 1);
}

static void a_window(zeus_monitor* monitor) {
  zeus_measurement* measurement = NULL;
  zeus_measurement* so_far = NULL;
  zeus_window window;
  zeus_energy energy;
  EXPECT(zeus_so_far(monitor, "w", &so_far) == ZEUS_NOT_FOUND && so_far == NULL);
  EXPECT(zeus_begin(monitor, "w") == ZEUS_OK);
  EXPECT(zeus_so_far(monitor, "w", &so_far) == ZEUS_OK);
  EXPECT(zeus_so_far(monitor, "w", NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_end(monitor, "w", &measurement) == ZEUS_OK);
  EXPECT(zeus_settle(monitor, so_far, 2.0) == ZEUS_OK);
  expect_within(so_far, measurement);
  zeus_measurement_free(so_far);
  EXPECT(zeus_settle(monitor, measurement, 2.0) == ZEUS_OK);
  EXPECT(zeus_settle(monitor, measurement, NAN) == ZEUS_INVALID_ARGUMENT);
  window.size = 0;
  EXPECT(zeus_measurement_window(measurement, &window) == ZEUS_INVALID_ARGUMENT);
  window.size = sizeof(window);
  EXPECT(zeus_measurement_window(measurement, &window) == ZEUS_OK);
  EXPECT(window.size == sizeof(window) && window.end >= window.start);
  for (int gpu = 0; gpu < window.gpu_count; ++gpu) {
    energy.size = sizeof(energy);
    EXPECT(zeus_measurement_energy(measurement, ZEUS_GPU, gpu, &energy) == ZEUS_OK);
    EXPECT(energy.known ? energy.value >= 0 && energy.uncertainty >= 0 : isnan(energy.value) && energy.reason[0] != 0);
  }
  energy.size = sizeof(energy);
  EXPECT(zeus_measurement_energy(measurement, ZEUS_ALL_GPUS, 0, &energy) == ZEUS_OK);
  EXPECT(energy.known == (window.gpu_count > 0) || energy.reason[0] != 0);
  EXPECT(zeus_measurement_energy(measurement, ZEUS_CPU, 99, &energy) == ZEUS_NOT_FOUND);
  EXPECT(zeus_measurement_energy(measurement, (zeus_device)7, 0, &energy) == ZEUS_INVALID_ARGUMENT);
  zeus_measurement_free(measurement);
}

/* `held` is the number of a GPU that is held back by its power limit and by nothing else; -1: there is none. */
static void throttling(zeus_monitor* monitor, int held) {
  const struct timespec moment = {1, 200000000};
  zeus_measurement* measurement = NULL;
  zeus_window window;
  zeus_throttle throttle;
  EXPECT(zeus_begin(monitor, "w") == ZEUS_OK);
  nanosleep(&moment, NULL);
  EXPECT(zeus_end(monitor, "w", &measurement) == ZEUS_OK);
  window.size = sizeof(window);
  EXPECT(zeus_measurement_window(measurement, &window) == ZEUS_OK);
  for (int gpu = 0; gpu < window.gpu_count; ++gpu) {
    memset(&throttle, 0, sizeof(throttle));
    EXPECT(zeus_measurement_throttle(measurement, gpu, &throttle) == ZEUS_INVALID_ARGUMENT); /* its size is not set */
    throttle.size = sizeof(throttle);
    EXPECT(zeus_measurement_throttle(measurement, gpu, &throttle) == ZEUS_OK);
    EXPECT(((throttle.reasons & ZEUS_THROTTLE_POWER_CAP) != 0) == (throttle.power_cap > 0));
    EXPECT(((throttle.reasons & ZEUS_THROTTLE_THERMAL) != 0) == (throttle.thermal > 0));
    /* Both are differences of seconds since the machine started, as doubles. */
    EXPECT(isnan(throttle.power_cap) || throttle.power_cap <= window.end - window.start + 1e-6);
    if (held >= 0) {
      EXPECT(throttle.reasons == (gpu == held ? ZEUS_THROTTLE_POWER_CAP : 0U));
      EXPECT(gpu != held || throttle.power_cap > 0.9 * (window.end - window.start));
    }
  }
  EXPECT(zeus_measurement_throttle(measurement, 99, &throttle) == ZEUS_NOT_FOUND);
  /* A caller built for an older version, whose struct ended after the reasons. */
  throttle.size = offsetof(zeus_throttle, power_cap);
  throttle.power_cap = 4711;
  if (window.gpu_count > 0) {
    EXPECT(zeus_measurement_throttle(measurement, 0, &throttle) == ZEUS_OK);
  }
  EXPECT(throttle.power_cap == 4711);
  zeus_measurement_free(measurement);
}

/* Whether each GPU's power and temperature have been read. */
static int all_were_read(zeus_monitor* monitor) {
  size_t powers = 0;
  size_t temperatures = 0;
  for (int gpu = 0; zeus_power_timeline(monitor, gpu, 0, NULL, &powers) == ZEUS_OK; ++gpu) {
    EXPECT(zeus_temperature_timeline(monitor, gpu, 0, NULL, &temperatures) == ZEUS_OK);
    if (powers == 0 || temperatures == 0) {
      return 0;
    }
  }
  return 1;
}

static void timelines(zeus_monitor* monitor) {
  const struct timespec moment = {0, 10000000};
  int patience = 6000; /* a minute of moments */
  int all_read = 0;
  zeus_measurement* measurement = NULL;
  zeus_window window;
  zeus_power powers[8];
  zeus_temperature temperatures[8];
  size_t count = 0;
  EXPECT(zeus_listen(monitor) == ZEUS_OK);
  do { /* until a window ends after all were read */
    nanosleep(&moment, NULL);
    all_read = all_were_read(monitor);
    EXPECT(zeus_begin(monitor, "w") == ZEUS_OK);
    EXPECT(zeus_end(monitor, "w", &measurement) == ZEUS_OK);
    window.size = sizeof(window);
    EXPECT(zeus_measurement_window(measurement, &window) == ZEUS_OK);
    zeus_measurement_free(measurement);
  } while (!all_read && --patience > 0);
  EXPECT(patience > 0);
  for (int gpu = 0; gpu < window.gpu_count; ++gpu) {
    count = 0; /* how many there are */
    EXPECT(zeus_power_timeline(monitor, gpu, 0, NULL, &count) == ZEUS_OK && count > 0);
    count = 8;
    EXPECT(zeus_power_timeline(monitor, gpu, 0, powers, &count) == ZEUS_OK);
    EXPECT(powers[0].watts > 0 && powers[0].at < window.end);
    EXPECT(count < 2 || powers[1].at > powers[0].at);
    count = 8;
    EXPECT(zeus_temperature_timeline(monitor, gpu, 0, temperatures, &count) == ZEUS_OK);
    EXPECT(count > 0 && temperatures[0].celsius > 0 && temperatures[0].at < window.end);
    count = 8;
    EXPECT(zeus_temperature_timeline(monitor, gpu, window.end + 3600, temperatures, &count) == ZEUS_OK && count == 0);
  }
  EXPECT(zeus_temperature_timeline(monitor, 99, 0, temperatures, &count) == ZEUS_NOT_FOUND);
  EXPECT(zeus_temperature_timeline(monitor, 0, 0, temperatures, NULL) == ZEUS_INVALID_ARGUMENT);
}

static void what_the_sampler_costs(zeus_monitor* monitor) {
  zeus_sampler_cost cost;
  memset(&cost, 0, sizeof(cost));
  EXPECT(zeus_sampler_costs(monitor, &cost) == ZEUS_INVALID_ARGUMENT); /* its size is not set */
  cost.size = sizeof(cost);
  EXPECT(zeus_sampler_costs(monitor, NULL) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_sampler_costs(NULL, &cost) == ZEUS_INVALID_ARGUMENT);
  EXPECT(zeus_sampler_costs(monitor, &cost) == ZEUS_OK);
  EXPECT(cost.size == sizeof(cost) && cost.running > 0 && cost.busy >= 0 && cost.driver >= 0);
}

int main(int argc, char** argv) {
  zeus_monitor* monitor = NULL;
  pthread_t threads[4];
  EXPECT(strlen(zeus_version()) >= 5);
  EXPECT(zeus_monitor_open(NULL, NULL) == ZEUS_INVALID_ARGUMENT);
  options();
  EXPECT(zeus_monitor_open(NULL, &monitor) == ZEUS_OK);
  misuse(monitor);
  a_window(monitor);
  throttling(monitor, argc > 1 ? atoi(argv[1]) : -1);
  timelines(monitor);
  what_the_sampler_costs(monitor);
  for (int i = 0; i < 4; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, many_windows, monitor) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
  }
  zeus_monitor_close(monitor);
  return 0;
}
