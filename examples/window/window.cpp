// The energy of a piece of work.
#include <zeus/measure.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

static void work() {
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
}

int main() {
  try {
    zeus::Monitor monitor;
    monitor.begin("work");
    work();
    const zeus::Measurement measured = monitor.settle(monitor.end("work"));
    std::cout << measured.total_gpu_energy() << " in " << measured.time() << '\n';
    for (const auto& [gpu, energy] : measured.gpu_energy) {
      std::cout << "GPU " << gpu << ": " << energy << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
