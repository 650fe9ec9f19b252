/* The energy of a piece of work, from C. */
#include <stdio.h>
#include <time.h>
#include <zeus/zeus.h>

static void work(void) {
  const struct timespec a_while = {.tv_nsec = 300000000};
  nanosleep(&a_while, NULL);
}

int main(void) {
  zeus_monitor* monitor = NULL;
  zeus_measurement* measurement = NULL;
  zeus_energy energy = {.size = sizeof energy};
  zeus_window window = {.size = sizeof window};
  zeus_status status = zeus_monitor_open(NULL, &monitor);
  if (status == ZEUS_OK) status = zeus_begin(monitor, "work");
  work();
  if (status == ZEUS_OK) status = zeus_end(monitor, "work", &measurement);
  if (status == ZEUS_OK) status = zeus_settle(monitor, measurement, 1.0);
  if (status == ZEUS_OK) status = zeus_measurement_window(measurement, &window);
  if (status == ZEUS_OK) status = zeus_measurement_energy(measurement, ZEUS_ALL_GPUS, 0, &energy);
  if (status != ZEUS_OK) {
    fprintf(stderr, "%s\n", zeus_last_error());
  } else if (energy.known) {
    printf("%.1f +- %.1f J in %.2f s\n", energy.value, energy.uncertainty, window.end - window.start);
  } else {
    printf("not known: %s\n", energy.reason);
  }
  zeus_measurement_free(measurement);
  zeus_monitor_close(monitor);
  return status == ZEUS_OK ? 0 : 1;
}
