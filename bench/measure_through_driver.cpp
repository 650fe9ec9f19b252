// The accuracy of windows in real time, through the virtual NVML driver, on all of its GPUs at once:
//   zeus virtual 25xA100 -- measure_through_driver [ROUNDS [LONGEST_MS]]
// Each round measures one window on every GPU; its moment, and the load and its phase, are its own.
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
  [[nodiscard]] zeus_virtual_truth now(std::size_t gpu) const {
    zeus_virtual_truth truth{};
    read_(static_cast<std::uint32_t>(gpu), &truth);
    return truth;
  }
  void load(std::size_t gpu, const std::string& text) const { submit_(static_cast<std::uint32_t>(gpu), text.c_str()); }

 private:
  zeus::DynamicLibrary driver_ = *zeus::DynamicLibrary::open(std::array<std::string, 1>{"libnvidia-ml.so.1"});
  decltype(&zeus_virtual_read_truth) read_ =
      driver_.function<decltype(zeus_virtual_read_truth)>({"zeus_virtual_read_truth"});
  decltype(&zeus_virtual_submit_load) submit_ =
      driver_.function<decltype(zeus_virtual_submit_load)>({"zeus_virtual_submit_load"});
};

// Two looks that are no more than so far apart leave no doubt of the energy between them; a process that was held up
// there cannot tell.
bool near(const zeus_virtual_truth& before, const zeus_virtual_truth& after) {
  return after.time_s - before.time_s < 2e-4;
}

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

// What happens at one moment of a round: a window on one GPU begins or ends.
struct Event {
  double after = 0;  // the beginning of the round
  std::size_t gpu = 0;
  bool is_end = false;
};

// What is known of one GPU's window.
struct Window {
  double plain_begin = 0;  // what its counter showed
  double plain_end = 0;
  double true_begin = 0;
  double true_end = 0;
  bool seen = true;
  zeus::Measurement measurement;
};

class Experiment {
 public:
  explicit Experiment(int rounds) : rounds_{rounds} {
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      zeus::MonitorOptions options;
      options.gpus = {{static_cast<int>(gpu)}};
      monitors_.push_back(zeus::measure::monitor_of(source_, options));
    }
  }

  void run(const std::string& load, double window_ms, bool cold) {
    tallies_ = {};
    std::vector<zeus::Monitor::Listening> listening;
    for (zeus::Monitor& monitor : monitors_) {
      if (!cold) {
        listening.push_back(monitor.listen());
      }
    }
    for (int round = 0; round < rounds_; ++round) {
      if (cold) {
        sleep(random_.uniform(4.0, 4.5));
      }
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        truth_.load(gpu, load);
        sleep(random_.uniform(0, 1.3) / static_cast<double>(gpus_.size()));
      }
      sleep(random_.uniform(0.4, 0.9));
      measure(window_ms * 1e-3);
    }
    const double count = static_cast<double>(rounds_) * static_cast<double>(gpus_.size()) - tallies_.unseen;
    fmt::print("  {:<22}{:>6.0f} ms{:>5}{:>8.2f} J |{:>23} |{:>23}{}\n", load, window_ms, cold ? "cold" : "",
               std::sqrt(tallies_.plain / count), tallies_.settled.text(tallies_.plain),
               tallies_.immediate.text(tallies_.plain),
               tallies_.unseen > 0 ? fmt::format("  {} left out", tallies_.unseen) : "");
    (void)std::fflush(stdout);
  }
  [[nodiscard]] std::size_t gpu_count() const { return gpus_.size(); }

 private:
  struct Tallies {
    Tally settled;
    Tally immediate;
    double plain = 0;  // sum of squared errors (J^2)
    int unseen = 0;
  };

  void sleep(double seconds) { clock_.sleep_until(clock_.now() + Seconds{seconds}); }

  // All GPUs tick together: windows that begin at moments of their own are nearly independent of one another.
  void measure(double length) {
    std::vector<Event> events;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      const double begin = random_.uniform(0, 1.3);
      events.push_back({.after = begin, .gpu = gpu, .is_end = false});
      events.push_back({.after = begin + length, .gpu = gpu, .is_end = true});
    }
    std::ranges::sort(events, {}, &Event::after);
    std::vector<Window> windows(gpus_.size());
    const zeus::Instant start = clock_.now();
    for (const Event& event : events) {
      clock_.sleep_until(start + Seconds{event.after});
      Window& window = windows[event.gpu];
      if (event.is_end) {
        window.plain_end = gpus_[event.gpu]->energy()->value.value();
        end(window, event.gpu);
      } else {
        window.plain_begin = gpus_[event.gpu]->energy()->value.value();
        begin(window, event.gpu);
      }
    }
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      add(windows[gpu], monitors_[gpu].settle(windows[gpu].measurement));
    }
  }

  // The truth at an edge lies between two looks, which are some microseconds apart; it is told by the end, when the
  // edge's own time is known.
  void begin(Window& window, std::size_t gpu) {
    looks_before_begin_[gpu] = truth_.now(gpu);
    monitors_[gpu].begin("w");
    looks_after_begin_[gpu] = truth_.now(gpu);
    window.seen = near(looks_before_begin_[gpu], looks_after_begin_[gpu]);
  }

  void end(Window& window, std::size_t gpu) {
    const zeus_virtual_truth before = truth_.now(gpu);
    window.measurement = monitors_[gpu].end("w");
    const zeus_virtual_truth after = truth_.now(gpu);
    window.true_begin = energy_at(window.measurement.start, looks_before_begin_[gpu], looks_after_begin_[gpu]);
    window.true_end = energy_at(window.measurement.end, before, after);
    window.seen = window.seen && near(before, after);
  }

  void add(const Window& window, const zeus::Measurement& settled) {
    if (!window.seen) {
      ++tallies_.unseen;
      return;
    }
    const double truth = window.true_end - window.true_begin;
    const int gpu = window.measurement.gpu_energy.begin()->first;
    tallies_.plain += std::pow(window.plain_end - window.plain_begin - truth, 2);
    tallies_.immediate.add(window.measurement.gpu_energy.at(gpu), truth);
    tallies_.settled.add(settled.gpu_energy.at(gpu), truth);
  }

  zeus::SystemClock clock_;
  zeus::backends::nvml::NvmlBackend nvml_{clock_};
  std::array<zeus::device::Backend*, 1> backends_{&nvml_};
  zeus::measure::Sampler::Devices devices_ =
      zeus::measure::visible_devices(zeus::device::take_inventory(backends_, zeus::Environment::of_process()));
  std::vector<std::shared_ptr<zeus::device::Gpu>> gpus_ = devices_.gpus;
  std::shared_ptr<zeus::measure::SamplerSource> source_ =
      std::make_shared<zeus::measure::SamplerSource>(devices_, clock_);
  std::vector<zeus::Monitor> monitors_;  // one for each GPU
  std::vector<zeus_virtual_truth> looks_before_begin_ = std::vector<zeus_virtual_truth>(gpus_.size());
  std::vector<zeus_virtual_truth> looks_after_begin_ = std::vector<zeus_virtual_truth>(gpus_.size());
  Truth truth_;
  Tallies tallies_;
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
