// A run as files in the layout of the ML.ENERGY benchmark's results, which that benchmark's readers take. docs/llm.md
// says what its fields mean here. Any thread.
#pragma once

#include "base/file_tree.hpp"
#include "serving/bench.hpp"
#include "serving/bench_result.hpp"

#include <zeus/units.hpp>

#include <string>
#include <vector>

namespace zeus::serving {

struct RunFile {
  std::string path;  // below the folder that has all runs
  std::string content;
  bool is_kept = false;  // if it is there already, its user's values stand in it
};

// Of a run with these settings and GPUs: the folder of its files. Foreign names, such as the model's, cannot lead out
// of the folder that has all runs.
std::string ml_energy_folder(const BenchResult& result);

// Throws an Error with the reason if the layout has no form for the run: it was not complete, has no energy per token,
// or no times between tokens. `parameters`: how many billions the model has.
std::vector<RunFile> ml_energy_files(const BenchRun& run, const BenchResult& result, double parameters);

// Writes them below `folder`.
void write_ml_energy_files(const FileTree& folder, const BenchRun& run, const BenchResult& result, double parameters);

}  // namespace zeus::serving
