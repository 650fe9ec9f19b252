// The accuracy of windows in real time, through the virtual NVML driver, on all of its GPUs at once:
//   zeus virtual 25xA100 -- measure_through_driver [ROUNDS [LONGEST_MS]]
// Each round measures one window on every GPU; load and phase of each are its own.
#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/dynamic_library.hpp"
#include "base/environment.hpp"
#include "base/random.hpp"
#include "drivers/session/zeus_virtual.h"
#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

using zeus::Seconds;

constexpr Seconds tick{0.1};
constexpr double mean_power = 200;

class Truth {
 public:
  Truth() {
    if (read_ == nullptr || submit_ == nullptr) {
      throw zeus::Error{zeus::ErrorKind::unavailable, "this is no virtual driver",
                        "run under `zeus virtual 25xA100 --`, of the same build"};
    }
  }
  [[nodiscard]] std::vector<zeus_virtual_truth> now(std::size_t gpus) const {
    std::vector<zeus_virtual_truth> all(gpus);
    for (std::size_t i = 0; i < gpus; ++i) {
      read_(static_cast<std::uint32_t>(i), &all[i]);
    }
    return all;
  }
  void load(std::size_t gpu, const std::string& text) const { submit_(static_cast<std::uint32_t>(gpu), text.c_str()); }

 private:
  zeus::DynamicLibrary driver_ = *zeus::DynamicLibrary::open(std::array<std::string, 1>{"libnvidia-ml.so.1"});
  decltype(&zeus_virtual_read_truth) read_ =
      driver_.function<decltype(zeus_virtual_read_truth)>({"zeus_virtual_read_truth"});
  decltype(&zeus_virtual_submit_load) submit_ =
      driver_.function<decltype(zeus_virtual_submit_load)>({"zeus_virtual_submit_load"});
};

// Between two looks that are some microseconds apart.
double energy_at(Seconds moment, const zeus_virtual_truth& before, const zeus_virtual_truth& after) {
  const double part = (moment.value() - before.time_s) / (after.time_s - before.time_s);
  return before.energy_j + (after.energy_j - before.energy_j) * part;
}

struct Tally {
  double squares = 0;
  int covered = 0;
  std::vector<double> half_widths;

  void add(const zeus::MeasuredEnergy& measured, double truth) {
    const double error = measured.energy ? measured.energy->value.value() - truth : truth;
    const double half_width = measured.energy ? measured.energy->uncertainty.value() : 0;
    squares += error * error;
    covered += std::abs(error) <= half_width ? 1 : 0;
    half_widths.push_back(half_width);
  }
  [[nodiscard]] std::string text(double plain_squares) {
    std::ranges::sort(half_widths);
    const auto count = static_cast<double>(half_widths.size());
    const double least = 0.1 * mean_power * tick.value();
    return fmt::format("{:>6.1f} %{:>6.1f} %{:>7.2f}", 100 * std::sqrt(squares / plain_squares),
                       100.0 * covered / count,
                       half_widths[half_widths.size() / 2] / std::max(3 * std::sqrt(squares / count), least));
  }
};

class Experiment {
 public:
  explicit Experiment(int rounds) : rounds_{rounds} {}

  void run(const std::string& load, double window_ms, bool cold) {
    Tally settled;
    Tally immediate;
    double plain = 0;
    const std::shared_ptr<void> listener = cold ? nullptr : monitor_.listen();
    for (int round = 0; round < rounds_; ++round) {
      if (cold) {
        sleep(random_.uniform(4.0, 4.5));
      }
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        truth_.load(gpu, load);
        sleep(random_.uniform(0, 1.3) / static_cast<double>(gpus_.size()));
      }
      sleep(random_.uniform(0.4, 0.9));
      const std::vector<double> first = readings();
      const auto before_begin = truth_.now(gpus_.size());
      monitor_.begin("w");
      const auto after_begin = truth_.now(gpus_.size());
      sleep(window_ms * 1e-3);
      const std::vector<double> last = readings();
      const auto before_end = truth_.now(gpus_.size());
      const zeus::Measurement at_once = monitor_.end("w");
      const auto after_end = truth_.now(gpus_.size());
      const zeus::Measurement waited = monitor_.settle(at_once);
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const double energy = energy_at(at_once.end, before_end[gpu], after_end[gpu]) -
                              energy_at(at_once.start, before_begin[gpu], after_begin[gpu]);
        plain += std::pow(last[gpu] - first[gpu] - energy, 2);
        immediate.add(at_once.gpu_energy.at(static_cast<int>(gpu)), energy);
        settled.add(waited.gpu_energy.at(static_cast<int>(gpu)), energy);
      }
    }
    fmt::print("  {:<22}{:>6.0f} ms{:>5}{:>8.2f} J |{:>23} |{:>23}\n", load, window_ms, cold ? "cold" : "",
               std::sqrt(plain / (rounds_ * static_cast<double>(gpus_.size()))), settled.text(plain),
               immediate.text(plain));
    (void)std::fflush(stdout);
  }
  [[nodiscard]] std::size_t gpu_count() const { return gpus_.size(); }

 private:
  void sleep(double seconds) { clock_.sleep_until(clock_.now() + Seconds{seconds}); }
  [[nodiscard]] std::vector<double> readings() const {
    std::vector<double> all;
    for (const auto& gpu : gpus_) {
      all.push_back(gpu->energy()->value.value());
    }
    return all;
  }

  zeus::SystemClock clock_;
  zeus::backends::nvml::NvmlBackend nvml_{clock_};
  std::array<zeus::device::Backend*, 1> backends_{&nvml_};
  zeus::measure::Sampler::Devices devices_ = zeus::measure::visible_devices(backends_, zeus::Environment::of_process());
  std::vector<std::shared_ptr<zeus::device::Gpu>> gpus_ = devices_.gpus;
  std::shared_ptr<zeus::measure::SamplerSource> source_ =
      std::make_shared<zeus::measure::SamplerSource>(devices_, clock_);
  zeus::Monitor monitor_{std::make_unique<zeus::measure::Windows>(source_, zeus::MonitorOptions{})};
  Truth truth_;
  zeus::Random random_{3};
  int rounds_;
};

void print_table(int rounds, double longest) {
  Experiment experiment{rounds};
  fmt::print("through the driver: {} windows a line\n  {:<22}{:>9}{:>5}{:>10} |{:>8}{:>8}{:>7} |{:>8}{:>8}{:>7}\n",
             static_cast<std::size_t>(rounds) * experiment.gpu_count(), "load", "window", "", "plain", "settled",
             "covers", "width", "at once", "covers", "width");
  for (const std::string load :
       {"constant:200W", "square:80-300W,37ms", "square:80-300W,200ms", "square:80-300W,1300ms"}) {
    for (const double window_ms : {53.0, 230.0, 1070.0, 5130.0}) {
      for (const bool cold : {false, true}) {
        if (window_ms <= longest) {
          experiment.run(load, window_ms, cold);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    print_table(argc > 1 ? std::atoi(argv[1]) : 4, argc > 2 ? std::atof(argv[2]) : 5130);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_through_driver: {}\n", error.what());
    return 1;
  }
}
