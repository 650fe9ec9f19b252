// A rank of a pipeline: ten iterations, each computation at the clock that the plan gives it.
#include <zeus/pipeline.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

static void compute() {
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
}

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "pipeline PLAN STAGE\n";
    return 2;
  }
  try {
    const auto stage = zeus::pipeline_stage(words[1], std::strtoul(words[2], nullptr, 10));
    zeus::PipelineClocks clocks{stage, {.gpu = 0}};
    for (int iteration = 0; iteration < 10; ++iteration) {
      for (const zeus::PipelineInstruction& instruction : stage) {
        clocks.begin(instruction.name);
        compute();
        clocks.end(instruction.name);
      }
      clocks.end_iteration();
    }
    clocks.close();
    std::cout << stage.size() << " computations each time; "
              << (clocks.trouble().empty() ? "followed" : clocks.trouble()) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
