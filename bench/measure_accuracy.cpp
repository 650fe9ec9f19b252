// Prints how well windows are measured on virtual cards, as the tables of docs/measurement.md.
//   measure_accuracy [WINDOWS [CARD [PERIOD_MS ...]]]      square waves of other periods, on request; a negative one:
//                                                       steps to any power in between, that far apart on average
#include "tests/support/accuracy_experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace {

// Periods of square waves in ms; 0 is a constant load.
using Periods = std::vector<double>;

std::string label(double period_ms) {
  if (period_ms == 0) {
    return "constant";
  }
  return fmt::format("{}{:g} ms", period_ms < 0 ? "~" : "", std::abs(period_ms));
}

void print_card(const std::string& title, const zeus::physics::GpuModel& model, int windows, const Periods& periods) {
  fmt::print("\n{}\n  {:<10}{:>8}{:>5}{:>9} |{:>8}{:>8}{:>7} |{:>8}{:>8}{:>7}\n", title, "load", "window", "", "plain",
             "settled", "covers", "width", "at once", "covers", "width");
  for (const double period_ms : periods) {
    for (const double window_ms : {53.0, 230.0, 1070.0, 5130.0}) {
      for (const bool cold : {false, true}) {
        const bool constant = period_ms == 0;
        const bool irregular = period_ms < 0;
        const auto result = zeus::test::measure_accuracy({.model = model,
                                                          .low = zeus::Watts{constant ? 200.0 : 80.0},
                                                          .high = zeus::Watts{constant ? 200.0 : 300.0},
                                                          .period = zeus::Milliseconds{std::abs(period_ms)},
                                                          .irregular = irregular,
                                                          .window = zeus::Milliseconds{window_ms},
                                                          .windows = windows,
                                                          .cold = cold});
        const auto& s = result.settled;
        const auto& i = result.immediate;
        fmt::print("  {:<10}{:>5.0f} ms{:>5}{:>7.2f} J |{:>6.1f} %{:>6.1f} %{:>7.2f} |{:>6.1f} %{:>6.1f} %{:>7.2f}\n",
                   label(period_ms), window_ms, cold ? "cold" : "", result.plain.value(), s.error * 100,
                   s.coverage * 100, s.half_width, i.error * 100, i.coverage * 100, i.half_width);
      }
    }
  }
}

int run(int argc, char** argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 2000;
  using zeus::physics::preset;
  const Periods usual{0, 37, 200, 1300};
  if (argc > 2) {
    Periods periods;
    for (int i = 3; i < argc; ++i) {
      periods.push_back(std::atof(argv[i]));
    }
    print_card(argv[2], preset(argv[2]), windows, periods.empty() ? usual : periods);
    return 0;
  }
  print_card("A100 (counter every 100 ms, samples of 25 ms)", preset("A100"), windows, usual);
  print_card("V100 (counter every 20 ms, samples of 10 ms)", preset("V100"), windows, usual);
  print_card("H100 (counter every 100 ms, samples of 25 ms)", preset("H100"), windows, usual);
  zeus::physics::GpuModel part_time = preset("A100");
  part_time.sensors.counter_part_time = true;
  print_card("A100 whose counter sees 25 ms of each 100 ms", part_time, windows, usual);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_accuracy: {}\n", error.what());
    return 1;
  }
}
