// Writes runs of served models, on a virtual clock, in the ML.ENERGY benchmark's layout, and prints each as a line of
// JSON, for a test that reads both:
//   layout_writer FOLDER COUNT
#include "base/file_tree.hpp"
#include "serving/bench_result.hpp"
#include "serving/ml_energy_files.hpp"
#include "situation.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

// If it was steady, as the layout has it.
bool write_run(const zeus::FileTree& folder, std::uint64_t number) {
  const zeus::test::Situation situation = zeus::test::drawn_situation(number);
  zeus::serving::BenchResult result;
  result.model = "tiny";
  result.in_flight = situation.shape.in_flight;
  result.rate = situation.shape.rate;
  result.seed = number;
  for (int gpu = 0; gpu < static_cast<int>(situation.gpus.size()); ++gpu) {
    result.gpus.push_back({.index = gpu, .uuid = {}, .name = std::string{situation.gpus.front().product()}});
  }
  const zeus::serving::BenchRun run = zeus::test::ServedMachine{situation}.bench(situation.seed).run;
  put_figures(run, result);
  if (!result.steady.energy_per_output_token || !result.steady.time_between_tokens) {
    return false;
  }
  write_ml_energy_files(folder, run, result, 0.5);
  fmt::print("{}\n", to_json(result));
  return true;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    return 2;
  }
  const zeus::FileTree folder{words[1]};
  int left = std::atoi(words[2]);
  for (std::uint64_t number = 0; left > 0; ++number) {
    left -= write_run(folder, number) ? 1 : 0;
  }
}
