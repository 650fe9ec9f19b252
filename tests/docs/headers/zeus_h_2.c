#include <zeus/zeus.h>

#include <stdio.h>

static double accuracy = 0.9;
static const int steps = 4;
static double learnt = 0;

static void learn(int step) {
  (void)step;
  learnt += 0.1;
}

static double evaluate(void) {
  return learnt;
}

int main(void) {
// EXAMPLE
  return result.stopped_by == ZEUS_TARGET_REACHED && result.epochs == 3 ? 0 : 1;
}
