// The quality and the cost of the adaptive power-limit plan, beside the full sweep. Six workloads on a virtual GPU with
// seven limits: steps whose time and energy scatter independently, a machine that warms up, sensors that tick.
//
//   power_limit_table [SEEDS [GPU [ETA [SCATTER [DRIFT]]]]]      by default 1000 V100 0.5 0.02 0.05

#include "research/paper_profiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
  using namespace zeus;
  const auto number = [&](int index, double otherwise) { return argc > index ? std::atof(argv[index]) : otherwise; };
  try {
    const auto seeds = static_cast<std::uint64_t>(std::max(1.0, number(1, 1000)));
    const physics::GpuModel& gpu = physics::preset(argc > 2 ? argv[2] : "V100");
    const double eta = number(3, 0.5);
    research::Disturbance disturbance;
    disturbance.scatter = number(4, disturbance.scatter);
    disturbance.drift = number(5, disturbance.drift);
    fmt::print("  {} seeds on {}, eta {}, scatter {}, drift {}; steps in parts of the full sweep's\n", seeds,
               gpu.name(), eta, disturbance.scatter, disturbance.drift);
    fmt::print("  {:<14}{:<10}{:>10}{:>11}{:>12}{:>10}{:>10}{:>13}\n", "workload", "plan", "within 1%", "worst",
               "steps mean", "95th", "most", "time");
    for (const research::NamedLoad& named : research::paper_loads(gpu)) {
      double sweep = 1.0;
      for (const bool adaptive : {false, true}) {
        const research::PlanResult result = research::run_plan(named.load, adaptive, eta, disturbance, seeds);
        sweep = adaptive ? sweep : result.mean_steps();
        const auto part = [&](double steps) { return 100.0 * steps / sweep; };
        fmt::print("  {:<14}{:<10}{:>9.1f}%{:>10.2f}%{:>11.1f}%{:>9.1f}%{:>9.1f}%{:>11.1f} s\n", named.name,
                   adaptive ? "adaptive" : "sweep", 100.0 * result.within, 100.0 * (result.worst - 1.0),
                   part(result.mean_steps()), part(result.steps[result.steps.size() * 95 / 100]),
                   part(result.steps.back()), result.time.value());
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "power_limit_table: {}\n", error.what());
    return 1;
  }
  return 0;
}
