// The fronts through which a job trains: a command under `zeus run`, a loop with zeus::Job, a loop in C, the demo. Each
// plays one night of a situation: one recurrence, in a process of its own. One thread.
#pragma once

#include "tests/trial/situation.hpp"

#include <array>
#include <string_view>

namespace zeus::test {

struct Front {
  std::string_view name;
  void (*recur)(Stage& stage);
};

void recur_as_command(Stage& stage);
void recur_as_loop(Stage& stage);
void recur_as_c_loop(Stage& stage);
// Of the situations with `in_demo`, whose work is that of the demo's network.
void recur_in_demo(Stage& stage);

inline constexpr std::array fronts{
    Front{.name = "command", .recur = recur_as_command}, Front{.name = "loop", .recur = recur_as_loop},
    Front{.name = "loop in C", .recur = recur_as_c_loop}, Front{.name = "demo", .recur = recur_in_demo}};

inline constexpr double target_metric = 0.9;
inline constexpr double demo_target = 0.84;  // of the network's accuracy
inline constexpr double eta = 0.5;

}  // namespace zeus::test
