#include <zeus/measure.hpp>

#include <chrono>
#include <iostream>
#include <thread>

void train() {
  std::this_thread::sleep_for(std::chrono::milliseconds{120});
}

int main() {
  // EXAMPLE
  return settled.settled && settled.total_gpu_energy().energy ? 0 : 1;
}
