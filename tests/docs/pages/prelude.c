#include <stdio.h>
#include <time.h>
#include <zeus/zeus.h>

static void train(void) {
  const struct timespec a_while = {.tv_nsec = 120000000};
  nanosleep(&a_while, NULL);
}

#define PRELUDE                                    \
  zeus_monitor* monitor = NULL;                    \
  zeus_measurement* measured = NULL;               \
  zeus_energy energy = {.size = sizeof energy};    \
  (void)monitor, (void)measured, (void)energy, (void)train;
