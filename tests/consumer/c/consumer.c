#include <zeus/zeus.h>

#include <stdio.h>

int main(void) {
  zeus_monitor* monitor = NULL;
  zeus_measurement* measured = NULL;
  zeus_measurement* none = NULL;
  zeus_window window = {.size = sizeof(window)};
  if (zeus_monitor_open(NULL, &monitor) || zeus_begin(monitor, "all") || zeus_end(monitor, "all", &measured) ||
      zeus_measurement_window(measured, &window) || zeus_end(monitor, "never begun", &none) != ZEUS_NOT_FOUND) {
    fprintf(stderr, "%s\n", zeus_last_error());
    return 1;
  }
  printf("zeus %s: %d GPUs measured from C\n", zeus_version(), window.gpu_count);
  zeus_measurement_free(measured);
  zeus_monitor_close(monitor);
  return 0;
}
