// Prints how well windows are measured on virtual cards, as the tables of docs/measurement.md.
//   measure_accuracy [WINDOWS]
#include "tests/support/accuracy_experiment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

struct Wave {
  const char* name;
  double period_ms;
};

void print_card(const char* title, const zeus::physics::GpuModel& model, int windows) {
  fmt::print("\n{}\n  {:<10}{:>8}{:>5}{:>9} |{:>8}{:>8}{:>7} |{:>8}{:>8}{:>7}\n", title, "load", "window", "", "plain",
             "settled", "covers", "width", "at once", "covers", "width");
  for (const Wave wave : {Wave{"constant", 0}, Wave{"37 ms", 37}, Wave{"200 ms", 200}, Wave{"1300 ms", 1300}}) {
    for (const double window_ms : {53.0, 230.0, 1070.0, 5130.0}) {
      for (const bool cold : {false, true}) {
        const bool constant = wave.period_ms == 0;
        const auto result = zeus::test::measure_accuracy({.model = model,
                                                          .low = zeus::Watts{constant ? 200.0 : 80.0},
                                                          .high = zeus::Watts{constant ? 200.0 : 300.0},
                                                          .period = zeus::Milliseconds{wave.period_ms},
                                                          .window = zeus::Milliseconds{window_ms},
                                                          .windows = windows,
                                                          .cold = cold});
        const auto& s = result.settled;
        const auto& i = result.immediate;
        fmt::print("  {:<10}{:>5.0f} ms{:>5}{:>7.2f} J |{:>6.1f} %{:>6.1f} %{:>7.2f} |{:>6.1f} %{:>6.1f} %{:>7.2f}\n",
                   wave.name, window_ms, cold ? "cold" : "", result.plain.value(), s.error * 100, s.coverage * 100,
                   s.half_width, i.error * 100, i.coverage * 100, i.half_width);
      }
    }
  }
}

int run(int argc, char** argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 2000;
  using zeus::physics::preset;
  print_card("A100 (counter every 100 ms, samples of 25 ms)", preset("A100"), windows);
  if (argc > 2) {
    return 0;
  }
  print_card("V100 (counter every 20 ms, samples of 10 ms)", preset("V100"), windows);
  print_card("H100 (counter every 100 ms, samples of 25 ms)", preset("H100"), windows);
  zeus::physics::GpuModel part_time = preset("A100");
  part_time.sensors.counter_part_time = true;
  print_card("A100 whose counter sees 25 ms of each 100 ms", part_time, windows);
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
