// What loads a session's virtual GPUs, as written on a command line: "constant:200W", "square:80-300W,200ms",
// "work:0.9,0.8,0.2", "trace.csv" (lines of seconds,watts) or "follow:WORKLOAD". Pure functions of text; safe from any
// thread.
#pragma once

#include "physics/load.hpp"

#include <zeus/units.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::drivers {

struct IdleLoad {};

struct ConstantLoad {
  Watts power;
};

// Half of each period `low`, then half `high`.
struct SquareLoad {
  Watts low;
  Watts high;
  Seconds period;
};

// Kernels of a certain character, as physics::Demand::of_work has them: shares of 1.
struct WorkLoad {
  double busy;
  double activity;
  double memory;
};

// A file of seconds,watts; its last power stays.
struct TableLoad {
  std::string file;
};

// A workload by name, at whose speed the command advances.
struct FollowLoad {
  std::string workload;
};

using LoadText = std::variant<IdleLoad, ConstantLoad, SquareLoad, WorkLoad, TableLoad, FollowLoad>;

// What cannot be understood is an invalid_argument Error. Files and workloads are only named here, not looked for.
LoadText parse_load(std::string_view text);

// The content of such a file: seconds not negative and ascending, watts not negative, one header line allowed, empty
// lines and comments (#) skipped. `name` is what the file is called in an Error, which names the line.
std::vector<physics::TablePoint> parse_power_table(std::string_view content, std::string_view name);

}  // namespace zeus::drivers
