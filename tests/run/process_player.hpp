// Plays a script in real time: `zeus run` and the script are processes, on their own virtual GPU, and the statements
// are those that `zeus jobs NAME --json` or `zeus run --json` prints. Any thread; several scripts may be played at the
// same time.
#pragma once

#include "tests/run/truth_player.hpp"
#include "tests/run/truth_script.hpp"
#include "tests/run/truth_told.hpp"

#include <array>
#include <filesystem>

namespace zeus::truth {

struct ProcessPlay {
  std::filesystem::path zeus;     // the program, with its drivers beside it
  std::filesystem::path trainer;  // run_truth itself
  std::filesystem::path folder;   // for stores and leases
};

Played play_as_processes(const Script& script, const ProcessPlay& play);
// Twice, without a job.
std::array<PlayedAlone, 2> play_alone_as_processes(const Script& script, const ProcessPlay& play);

}  // namespace zeus::truth
