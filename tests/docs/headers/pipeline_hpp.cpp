#include <zeus/pipeline.hpp>

#include <fstream>

void forward(int /*batch*/) {
}
void backward(int /*batch*/) {
}

int main() {
  std::ofstream{"plan.json"}
      << R"({"time_s": 1, "energy_j": 100, "frequencies": [[["forward", 900], ["backward", 600]]]})";
  const int batches[]{1, 2, 3};
  const std::size_t stage = 0;
  // EXAMPLE
}
