// Fits the GPU parameters and training profiles of src/physics/fitted.cpp to published power traces, and judges them by
// the rows that were left out:
//
//   fit_physics TRACES [--iterations N] [--write FILE]
//
// TRACES is the folder of summary_power_v100.csv and summary_power_a40.csv. For each (workload, batch size), every
// other power limit is fitted, beginning with the lowest; the others are only for judging. Without --iterations the
// built-in parameters are judged. The search starts from those and is deterministic.

#include "physics/fitted.hpp"
#include "physics/gpu_model.hpp"
#include "physics/training_profile.hpp"
#include "tests/support/power_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::physics;
using zeus::test::TraceGroup;

constexpr std::size_t parameter_count = 9;
using Parameters = std::array<double, parameter_count>;

struct Bound {
  const char* name;
  double low;
  double high;
};
constexpr std::array<Bound, parameter_count> bounds{{{"waiting", 20, 95},
                                                     {"dynamic", 80, 600},
                                                     {"voltage_floor", 0.4, 0.98},
                                                     {"voltage_knee", 0.1, 0.95},
                                                     {"voltage_bend", 0.6, 3.0},
                                                     {"memory_part", 0.0, 0.7},
                                                     {"memory_time", 0.0, 0.7},
                                                     {"lowest_capped", 0.098, 0.4},
                                                     {"overlap", 1.0, 12.0}}};

Parameters parameters_of(const PowerCurve& p) {
  return {p.waiting.value(), p.dynamic.value(), p.voltage_floor, p.voltage_knee, p.voltage_bend,
          p.memory_part,     p.memory_time,     p.lowest_capped, p.overlap};
}

void set_parameters(const Parameters& p, PowerCurve& curve) {
  curve.waiting = Watts{p[0]};
  curve.dynamic = Watts{p[1]};
  curve.voltage_floor = p[2];
  curve.voltage_knee = p[3];
  curve.voltage_bend = p[4];
  curve.memory_part = p[5];
  curve.memory_time = p[6];
  curve.lowest_capped = p[7];
  curve.overlap = p[8];
}

// The error of the model on the limits that it was fitted to.
double training_loss(const GpuModel& model, const std::vector<TraceGroup>& groups) {
  double sum = 0.0;
  double count = 0.0;
  for (const TraceGroup& group : groups) {
    const TrainingProfile profile = fit_profile(model, group.fitted);
    for (const EpochObservation& seen : group.fitted) {
      const EpochObservation said = predict(model, seen.limit, profile);
      for (const double error : {said.time / seen.time - 1.0, said.power / seen.power - 1.0}) {
        sum += std::hypot(error / 0.03, 1.0) - 1.0 + std::pow(error / 0.1, 4);
        count += 1.0;
      }
    }
  }
  return sum / count;
}

// Nelder and Mead's simplex search (The Computer Journal 7, 1965), within the bounds.
Parameters minimize(const std::function<double(const Parameters&)>& loss, const Parameters& start, int iterations) {
  struct Corner {
    Parameters at{};
    double loss = 0.0;
  };
  const auto make = [&](Parameters at) {
    for (std::size_t i = 0; i < parameter_count; ++i) {
      at[i] = std::clamp(at[i], bounds[i].low, bounds[i].high);
    }
    return Corner{at, loss(at)};
  };
  std::vector<Corner> simplex{make(start)};
  for (std::size_t i = 0; i < parameter_count; ++i) {
    Parameters at = start;
    at[i] *= at[i] * 1.08 > bounds[i].high ? 0.92 : 1.08;
    simplex.push_back(make(at));
  }
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::ranges::sort(simplex, {}, &Corner::loss);
    Parameters center{};
    for (std::size_t c = 0; c < parameter_count; ++c) {
      for (std::size_t i = 0; i < parameter_count; ++i) {
        center[i] += simplex[c].at[i] / static_cast<double>(parameter_count);
      }
    }
    Corner& worst = simplex.back();
    const auto along = [&](double factor) {
      Parameters at{};
      for (std::size_t i = 0; i < parameter_count; ++i) {
        at[i] = center[i] + factor * (worst.at[i] - center[i]);
      }
      return make(at);
    };
    const Corner reflected = along(-1.0);
    if (reflected.loss < simplex.front().loss) {
      const Corner expanded = along(-2.0);
      worst = expanded.loss < reflected.loss ? expanded : reflected;
    } else if (reflected.loss < simplex[parameter_count - 1].loss) {
      worst = reflected;
    } else if (const Corner contracted = along(reflected.loss < worst.loss ? -0.5 : 0.5);
               contracted.loss < std::min(worst.loss, reflected.loss)) {
      worst = contracted;
    } else {
      for (std::size_t c = 1; c < simplex.size(); ++c) {
        Parameters at{};
        for (std::size_t i = 0; i < parameter_count; ++i) {
          at[i] = 0.5 * (simplex[0].at[i] + simplex[c].at[i]);
        }
        simplex[c] = make(at);
      }
    }
  }
  return std::ranges::min(simplex, {}, &Corner::loss).at;
}

std::string curve_source(const GpuModel& model, const std::string& function) {
  const PowerCurve& p = model.power;
  return fmt::format(
      "PowerCurve {}() {{\n  return {{.waiting = Watts{{{:.3f}}},\n          .dynamic = Watts{{{:.3f}}},\n"
      "          .voltage_floor = {:.4f},\n          .voltage_knee = {:.4f},\n"
      "          .voltage_bend = {:.4f},\n          .memory_part = {:.4f},\n"
      "          .memory_time = {:.4f},\n          .lowest_capped = {:.4f},\n"
      "          .overlap = {:.4f}}};\n}}\n\n",
      function, p.waiting.value(), p.dynamic.value(), p.voltage_floor, p.voltage_knee, p.voltage_bend, p.memory_part,
      p.memory_time, p.lowest_capped, p.overlap);
}

std::string profiles_source(const GpuModel& model, const std::vector<TraceGroup>& groups, const std::string& name) {
  std::string source = fmt::format("constexpr std::array<FittedProfile, {}> {}{{{{\n", groups.size(), name);
  for (const TraceGroup& group : groups) {
    const TrainingProfile p = fit_profile(model, group.fitted);
    source += fmt::format("    {{\"{}\", {}, {{Seconds{{{:.6g}}}, {:.5g}, {:.5g}}}}},\n", group.workload,
                          group.batch_size, p.epoch.value(), p.busy, p.activity);
  }
  return source + "}};\n\n";
}

constexpr const char* file_head =
    R"(// Written by bench/fit_physics.cpp (see docs/physics.md); do not edit by hand.
#include "physics/fitted.hpp"

#include <array>

namespace zeus::physics {

namespace {

)";

constexpr const char* file_tail = R"(std::span<const FittedProfile> v100_profiles() {
  return v100_table;
}

std::span<const FittedProfile> a40_profiles() {
  return a40_table;
}

}  // namespace zeus::physics
)";

struct Errors {
  std::vector<double> time;
  std::vector<double> power;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void judge(const GpuModel& model, const std::vector<TraceGroup>& groups) {
  Errors fitted;
  Errors held_out;
  std::string worst;
  for (const TraceGroup& group : groups) {
    const TrainingProfile profile = fit_profile(model, group.fitted);
    const auto add = [&](const std::vector<EpochObservation>& rows, Errors& errors, const char* kind) {
      for (const EpochObservation& seen : rows) {
        const EpochObservation said = predict(model, seen.limit, profile);
        const double time = said.time / seen.time - 1.0;
        const double power = said.power / seen.power - 1.0;
        const bool broken = test::breaks_physics(group, seen, model.power.waiting);
        if (!broken) {
          errors.time.push_back(std::abs(time));
          errors.power.push_back(std::abs(power));
        }
        if (std::max(std::abs(time), std::abs(power)) > 0.12 || broken) {
          worst += fmt::format("  {:8} {:<42} {:>6} {:>4.0f} W  time {:+6.1f} %  power {:+6.1f} %{}\n", kind,
                               group.workload, group.batch_size, seen.limit.value(), 100 * time, 100 * power,
                               broken ? "  breaks physics, not counted" : "");
        }
      }
    };
    add(group.fitted, fitted, "fitted");
    add(group.held_out, held_out, "held out");
  }
  for (const auto& [errors, kind] : {std::pair{&fitted, "fitted"}, std::pair{&held_out, "held out"}}) {
    fmt::print(
        "{:<6} {:<9} {:>4} rows   time: median {:.2f} %, worst {:.1f} %   power: median {:.2f} %, worst {:.1f} %\n",
        model.name(), kind, errors->time.size(), 100 * median(errors->time), 100 * std::ranges::max(errors->time),
        100 * median(errors->power), 100 * std::ranges::max(errors->power));
  }
  fmt::print("{}", worst);
}

int run(const std::vector<std::string>& arguments) {
  std::string traces;
  std::string file;
  int iterations = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--iterations" && i + 1 < arguments.size()) {
      iterations = std::stoi(arguments[++i]);
    } else if (arguments[i] == "--write" && i + 1 < arguments.size()) {
      file = arguments[++i];
    } else {
      traces = arguments[i];
    }
  }
  std::string curves;
  std::string tables;
  for (const std::string name : {"v100", "a40"}) {
    const std::vector<TraceGroup> groups = test::read_power_trace(fmt::format("{}/summary_power_{}.csv", traces, name));
    GpuModel model = preset(name);
    if (iterations > 0) {
      const auto loss = [&](const Parameters& parameters) {
        GpuModel candidate = model;
        set_parameters(parameters, candidate.power);
        return training_loss(candidate, groups);
      };
      set_parameters(minimize(loss, parameters_of(model.power), iterations), model.power);
    }
    curves += curve_source(model, "fitted_" + name);
    tables += profiles_source(model, groups, name + "_table");
    judge(model, groups);
  }
  if (!file.empty()) {
    std::ofstream{file} << file_head << tables << "}  // namespace\n\n" << curves << file_tail;
  } else {
    fmt::print("\n{}", curves);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
      fmt::print(stderr,
                 "fit_physics: name the folder of the traces: fit_physics TRACES [--iterations N] [--write FILE]\n");
      return 2;
    }
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fit_physics: {}\n", error.what());
    return 1;
  }
}
