#define _POSIX_C_SOURCE 199309L  // nanosleep()

#include <zeus/zeus.h>

#include <stdio.h>
#include <time.h>

static void train(void) {
  const struct timespec a_moment = {.tv_sec = 0, .tv_nsec = 100000000};
  nanosleep(&a_moment, NULL);
}

int main(void) {
// EXAMPLE
  return energy.known ? 0 : 1;
}
