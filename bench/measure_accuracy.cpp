// Prints how accurately windows are measured on virtual GPUs, and judges their intervals:
//   measure_accuracy [--seed N] [WINDOWS [GPU [PERIOD_MS ...]]]
// GPU is a model, or several of one model, such as 8xA100: then the totals over all of them are judged. PERIOD_MS is
// the period of a square wave. 0 is a constant load; a negative value is the mean time between steps to any power.
// `measure_accuracy 2000` prints docs/results/measurement.txt. The program fails if a cell fails:
// - irregular loads: the 99.9 % binomial interval of the coverage lies outside 93 to 98.5 %, or
//   the median half-width is more than 1.5 times the 95th percentile of the errors;
// - even waves and constant loads: that interval lies below 92 %.
#include "tests/support/accuracy_experiment.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

// Periods of square waves in ms; 0 is a constant load, a negative one the mean time between steps.
using Periods = std::vector<double>;

constexpr double normal_999 = 3.2905;
constexpr double most_width = 1.5;

struct Asked {
  int windows = 2000;
  std::uint64_t seed = 1;
};

std::string label(double period_ms) {
  if (period_ms == 0) {
    return "constant";
  }
  return fmt::format("{}{:g} ms", period_ms < 0 ? "~" : "", std::abs(period_ms));
}

// The 99.9 % binomial interval of a share (Wilson's score interval).
std::pair<double, double> interval(double share, int count) {
  const double z2 = normal_999 * normal_999 / count;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half = normal_999 / (1 + z2) * std::sqrt(share * (1 - share) / count + z2 / (4 * count));
  return {middle - half, middle + half};
}

// What is wrong with the intervals of a cell, in a word; "ok" if nothing is.
const char* verdict(const zeus::test::Accuracy& accuracy, bool irregular, int windows) {
  const auto [low, high] = interval(accuracy.coverage, windows);
  if (high < (irregular ? 0.93 : 0.92)) {
    return "LOW";
  }
  if (irregular && low > 0.985) {
    return "HIGH";
  }
  return irregular && accuracy.width > most_width ? "WIDE" : "ok";
}

// How several GPUs belong together.
struct Relation {
  const char* title;
  bool in_step;
  bool ticks_together;
  double late_ms;
};
constexpr std::array relations{
    Relation{"in step, ticking together, read late", true, true, 5},
    Relation{"in step, each with ticks of its own, read late", true, false, 5},
    Relation{"each with a load of its own, ticking together, read late", false, true, 5},
    Relation{"each with a load and ticks of its own, read late", false, false, 5},
    Relation{"in step, ticking together, read in time", true, true, 0},
    Relation{"each with a load and ticks of its own, read in time", false, false, 0},
};

class Table {
 public:
  explicit Table(const Asked& asked) : asked_{asked} {}

  // `judged` is false for loads whose errors no interval can foresee.
  void print(const std::string& title, const zeus::physics::GpuModel& model, const Periods& periods, bool judged) {
    print_head(title);
    for (const double period_ms : periods) {
      for (const double window_ms : {53.0, 230.0, 1070.0, 5130.0}) {
        for (const bool cold : {false, true}) {
          print_line(label(period_ms), setting(model, period_ms, window_ms, cold), judged);
        }
      }
    }
    std::fflush(stdout);
  }

  // Totals over several GPUs. The machine is busy: each third reading is late.
  void print_totals(const std::string& title, const zeus::physics::GpuModel& model, const Periods& periods,
                    const std::vector<int>& counts) {
    for (const Relation& relation : relations) {
      print_head(fmt::format("{}, {}", title, relation.title));
      for (const double period_ms : periods) {
        for (const auto& [window_ms, cold] :
             {std::pair{53.0, false}, std::pair{53.0, true}, std::pair{1070.0, false}}) {
          for (const int count : counts) {
            auto of_several = setting(model, period_ms, window_ms, cold);
            of_several.late = zeus::Milliseconds{relation.late_ms};
            of_several.gpus = count;
            of_several.in_step = relation.in_step;
            of_several.ticks_together = relation.ticks_together;
            print_line(fmt::format("{} {}", count, label(period_ms)), of_several, true);
          }
        }
      }
      std::fflush(stdout);
    }
  }

  [[nodiscard]] int finish() const {
    fmt::print("\n{} of {} judged cells fail\n", failed_, cells_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  static void print_head(const std::string& title) {
    fmt::print("\n{}\n  {:<10}{:>8}{:>5}{:>9} |{:>8}{:>8}{:>8}{:>6}{:>5} |{:>8}{:>8}{:>8}{:>6}{:>5}\n", title, "load",
               "window", "", "plain", "settled", "covers", "95th", "width", "", "at once", "covers", "95th", "width",
               "");
  }

  [[nodiscard]] zeus::test::AccuracySetting setting(const zeus::physics::GpuModel& model, double period_ms,
                                                    double window_ms, bool cold) const {
    const bool constant = period_ms == 0;
    return {.model = model,
            .low = zeus::Watts{constant ? 200.0 : 80.0},
            .high = zeus::Watts{constant ? 200.0 : 300.0},
            .period = zeus::Milliseconds{std::abs(period_ms)},
            .irregular = period_ms < 0,
            .window = zeus::Milliseconds{window_ms},
            .windows = asked_.windows,
            .cold = cold,
            .seed = asked_.seed};
  }

  void print_line(const std::string& load, const zeus::test::AccuracySetting& of_line, bool judged) {
    const auto result = zeus::test::measure_accuracy(of_line);
    fmt::print("  {:<10}{:>5.0f} ms{:>5}{:>7.2f} J", load, of_line.window.value() * 1e3, of_line.cold ? "cold" : "",
               result.plain.value());
    for (const auto* const of : {&result.settled, &result.immediate}) {
      const std::string judgement = judged ? verdict(*of, of_line.irregular, asked_.windows) : "";
      fmt::print(" |{:>6.1f} %{:>6.1f} %{:>6.2f} J{:>6.2f}{:>5}", of->error * 100, of->coverage * 100,
                 of->quantile_95.value(), of->width, judgement);
      cells_ += judged ? 1 : 0;
      failed_ += judged && judgement != "ok" ? 1 : 0;
    }
    fmt::print("\n");
  }

  Asked asked_;
  int cells_ = 0;
  int failed_ = 0;
};

int run(std::vector<std::string> words) {
  Asked asked;
  if (words.size() >= 2 && words[0] == "--seed") {
    asked.seed = std::stoull(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (!words.empty()) {
    asked.windows = std::stoi(words[0]);
  }
  using zeus::physics::preset;
  const Periods usual{0, 37, 200, 1300};
  const Periods irregular{-30, -100, -400};
  const Periods of_several{0, 1300, -30, -100, -400};
  Table table{asked};
  if (words.size() > 1) {
    Periods periods;
    for (std::size_t i = 2; i < words.size(); ++i) {
      periods.push_back(std::stod(words[i]));
    }
    const std::size_t times = words[1].find('x');
    if (times != std::string::npos) {
      table.print_totals(words[1], preset(words[1].substr(times + 1)), periods.empty() ? of_several : periods,
                         {std::stoi(words[1])});
    } else {
      table.print(words[1], preset(words[1]), periods.empty() ? usual : periods, true);
    }
    return table.finish();
  }
  fmt::print("{} windows a line\n", asked.windows);
  const std::string a100 = "A100 (counter every 100 ms, samples of 25 ms)";
  const std::string v100 = "V100 (counter every 20 ms, samples of 10 ms)";
  table.print(a100, preset("A100"), usual, true);
  table.print(v100, preset("V100"), usual, true);
  table.print(a100 + ", steps to any power at any time", preset("A100"), irregular, true);
  table.print(v100 + ", steps to any power at any time", preset("V100"), irregular, true);
  table.print(a100 + ", waves that it cannot see: not judged", preset("A100"), {13, 23, 40, 50, 66.7}, false);
  table.print(v100 + ", waves that it cannot see: not judged", preset("V100"), {5, 8, 13.3}, false);
  zeus::physics::GpuModel part_time = preset("A100");
  part_time.sensors.counter_part_time = true;
  table.print("A100 whose counter sees 25 ms of each 100 ms", part_time, usual, true);
  table.print_totals("totals of 2, 4 and 8 A100", preset("A100"), of_several, {2, 4, 8});
  table.print_totals("totals of 8 V100", preset("V100"), {0, 200, -30, -400}, {8});
  return table.finish();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_accuracy: {}\n", error.what());
    return 2;
  }
}
