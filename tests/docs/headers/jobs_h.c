#include <zeus/jobs.h>

#include <stdio.h>

static const int sizes[] = {32, 64, 128};
static double accuracy = 0.9;
static double learnt = 0;
static int tries = 0;

static void begin_anew(unsigned long seed) {
  (void)seed;
  learnt = 0;
  ++tries;
}

static void learn(int batch_size) {
  learnt += 1e-3 * batch_size;
}

static double evaluate(void) {
  return learnt;
}

int main(void) {
// EXAMPLE
  return tries == 1 && learnt >= 0.9 ? 0 : 1;
}
