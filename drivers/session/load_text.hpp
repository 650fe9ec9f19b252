// The loads of a session's virtual GPUs, as written on a command line: "constant:200W", "square:80-300W,200ms",
// "work:0.9,0.8,0.2", "trace.csv" (lines of seconds,watts), "follow:WORKLOAD" or "follow:work:0.9,0.8,0.2". Pure
// functions of strings; safe from any thread.
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

// `low` for half of each period, then `high` for the other half.
struct SquareLoad {
  Watts low;
  Watts high;
  Seconds period;
};

// Kernels of a given kind, as in physics::Demand::of_work: shares of 1.
struct WorkLoad {
  double busy = 0;
  double activity = 0;
  double memory = 0;
  bool followed = false;  // the command advances at their speed
};

// A file of seconds,watts; the last power stays.
struct TableLoad {
  std::string file;
};

// A workload by name; the command advances at its speed.
struct FollowLoad {
  std::string workload;
};

using LoadText = std::variant<IdleLoad, ConstantLoad, SquareLoad, WorkLoad, TableLoad, FollowLoad>;

// A string that cannot be understood is an invalid_argument Error. Files and workloads are only named, not looked up.
LoadText parse_load(std::string_view text);

// The content of such a file: seconds ascending and not negative, watts not negative, one header line allowed; empty
// lines and comments (#) are skipped. `name` is what an Error calls the file; it also gives the line.
std::vector<physics::TablePoint> parse_power_table(std::string_view content, std::string_view name);

}  // namespace zeus::drivers
