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
  zeus_measurement* measured = NULL;
  zeus_energy energy = {.size = sizeof energy};
  zeus_window window = {.size = sizeof window};
  int failed = zeus_monitor_open(NULL, &monitor) != ZEUS_OK || zeus_begin(monitor, "work") != ZEUS_OK;
  work();
  failed = failed || zeus_end(monitor, "work", &measured) != ZEUS_OK ||
           zeus_settle(monitor, measured, 1.0) != ZEUS_OK || zeus_measurement_window(measured, &window) != ZEUS_OK ||
           zeus_measurement_energy(measured, ZEUS_ALL_GPUS, 0, &energy) != ZEUS_OK;
  if (failed) {
    fprintf(stderr, "%s\n", zeus_last_error());
  } else if (energy.known) {
    printf("%.1f +- %.3g J in %.2f s\n", energy.value, energy.uncertainty, window.end - window.start);
  } else {
    printf("not known: %s\n", energy.reason);
  }
  zeus_measurement_free(measured);
  zeus_monitor_close(monitor);
  return failed;
}
