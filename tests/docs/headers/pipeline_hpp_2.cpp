#include <zeus/pipeline.hpp>

#include <chrono>
#include <thread>

void pass(int times) {
  std::this_thread::sleep_for(std::chrono::milliseconds{2 * times});
}
void receive() {
  pass(1);
}
void forwards(int times) {
  pass(times);
}
void forwards_and_backwards(int times) {
  pass(3 * times);
}

int main() {
  const int stage = 0;
  // EXAMPLE
}
