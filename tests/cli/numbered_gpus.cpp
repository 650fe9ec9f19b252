// The GPU that programs in C++ and C see under each number, for tests/cli/numbering_test.py: one line for each GPU and
// language, as `c++ NUMBER UUID WATTS`. C has no UUIDs: `-`.

#include <zeus/zeus.h>
#include <zeus/zeus.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

void look_from_cpp() {
  zeus::Monitor monitor;
  monitor.begin("window");
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  const zeus::Measurement measured = monitor.end("window");
  for (const zeus::Gpu& gpu : zeus::gpus()) {
    const zeus::MeasuredEnergy& energy = measured.gpu_energy.at(gpu.index());
    std::printf("c++ %d %s %f\n", gpu.index(), gpu.uuid().c_str(),
                energy.energy ? (energy.energy->value / measured.time()).value() : -1.0);
  }
}

void look_from_c() {
  zeus_monitor* monitor = nullptr;
  zeus_measurement* measurement = nullptr;
  zeus_window window{};
  window.size = sizeof window;
  if (zeus_monitor_open(nullptr, &monitor) != ZEUS_OK || zeus_begin(monitor, "window") != ZEUS_OK) {
    std::fprintf(stderr, "%s\n", zeus_last_error());
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  if (zeus_end(monitor, "window", &measurement) == ZEUS_OK &&
      zeus_measurement_window(measurement, &window) == ZEUS_OK) {
    for (int gpu = 0; gpu < window.gpu_count; ++gpu) {
      zeus_energy energy{};
      energy.size = sizeof energy;
      if (zeus_measurement_energy(measurement, ZEUS_GPU, gpu, &energy) == ZEUS_OK) {
        std::printf("c %d - %f\n", gpu, energy.value / (window.end - window.start));
      }
    }
  }
  zeus_measurement_free(measurement);
  zeus_monitor_close(monitor);
}

}  // namespace

int main() {
  look_from_cpp();
  look_from_c();
  return 0;
}
