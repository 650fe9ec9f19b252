// The accuracy of windows in real time, through the virtual NVML driver, on all of its GPUs at once:
//   zeus virtual 25xA100 -- measure_through_driver [ROUNDS [LONGEST_MS [cold]]]
// Each round measures one window of each length on every GPU. Each window begins at a random moment, and each GPU has a
// load and a phase of its own. The true energy is exact at the window's timestamps, even if this program took them
// late. Cold: the counter was not read for 4 s before a window, so each length is measured in separate rounds.
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
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using zeus::Seconds;

constexpr Seconds tick{0.1};
constexpr double mean_power = 200;

class Truth {
 public:
  Truth() {
    if (energy_ == nullptr || submit_ == nullptr) {
      throw zeus::Error{zeus::ErrorKind::unavailable, "this is no virtual driver",
                        "run under `zeus virtual 25xA100 --`, of the same build"};
    }
  }
  [[nodiscard]] double energy(std::size_t gpu, Seconds moment) const {
    double joules = 0;
    if (energy_(static_cast<std::uint32_t>(gpu), moment.value(), &joules) != ZEUS_VIRTUAL_OK) {
      throw zeus::Error{zeus::ErrorKind::unavailable, "the truth is not known any more"};
    }
    return joules;
  }
  void load(std::size_t gpu, const std::string& text) const { submit_(static_cast<std::uint32_t>(gpu), text.c_str()); }

 private:
  zeus::DynamicLibrary driver_ = *zeus::DynamicLibrary::open(std::array<std::string, 1>{"libnvidia-ml.so.1"});
  decltype(&zeus_virtual_read_energy) energy_ =
      driver_.function<decltype(zeus_virtual_read_energy)>({"zeus_virtual_read_energy"});
  decltype(&zeus_virtual_submit_load) submit_ =
      driver_.function<decltype(zeus_virtual_submit_load)>({"zeus_virtual_submit_load"});
};

struct Tally {
  double squares = 0;
  int covered = 0;
  std::vector<double> half_widths;

  void add(const zeus::Energy& measured, double truth) {
    const double error = measured.value.value() - truth;
    squares += error * error;
    covered += std::abs(error) <= measured.uncertainty.value() ? 1 : 0;
    half_widths.push_back(measured.uncertainty.value());
  }
  [[nodiscard]] std::string text(double plain_squares) {
    if (half_widths.empty()) {
      return fmt::format("{:>32}", "none");
    }
    std::ranges::sort(half_widths);
    const auto count = static_cast<double>(half_widths.size());
    const double least = 0.1 * mean_power * tick.value();
    const double median = half_widths[half_widths.size() / 2];
    return fmt::format("{:>6.1f} %{:>6.1f} %{:>7.2f}{:>7.2f} J", 100 * std::sqrt(squares / plain_squares),
                       100.0 * covered / count, median / std::max(3 * std::sqrt(squares / count), least), median);
  }
};

// What happens at one moment of a round: a window on one GPU begins or ends.
struct Event {
  double after = 0;  // seconds after the beginning of the round
  std::size_t gpu = 0;
  std::size_t length = 0;
  bool is_end = false;
};

struct Window {
  double plain_begin = 0;  // what the counter showed
  double plain_end = 0;
  zeus::Measurement measurement;
};

// The results of all windows of one length under one load.
struct Line {
  Tally settled;
  Tally immediate;
  double plain = 0;  // sum of squared errors (J^2)
  int windows = 0;
  std::map<std::string, int> unknown;  // how many windows have no energy, by the reason that was given
};

class Experiment {
 public:
  Experiment(int rounds, std::vector<double> lengths_ms)
      : rounds_{rounds}, lengths_ms_{std::move(lengths_ms)}, lines_(lengths_ms_.size()) {
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      zeus::MonitorOptions options;
      options.gpus = {{static_cast<int>(gpu)}};
      monitors_.push_back(zeus::measure::monitor_of(source_, options));
    }
  }

  void run(const std::string& load, bool cold) {
    lines_.assign(lengths_ms_.size(), {});
    std::vector<zeus::Monitor::Listening> listening;
    for (zeus::Monitor& monitor : monitors_) {
      if (!cold) {
        listening.push_back(monitor.listen());
      }
    }
    for (int round = 0; round < rounds_; ++round) {
      for (std::size_t length = 0; length < (cold ? lengths_ms_.size() : 1); ++length) {
        if (cold) {
          sleep(random_.uniform(4.0, 4.5));
        }
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
          truth_.load(gpu, load);
          sleep(random_.uniform(0, 1.3) / static_cast<double>(gpus_.size()));
        }
        sleep(random_.uniform(0.4, 0.9));
        measure(cold ? length : 0, cold ? length + 1 : lengths_ms_.size());
      }
    }
    for (std::size_t length = 0; length < lines_.size(); ++length) {
      print(load, lengths_ms_[length], cold, lines_[length]);
    }
  }
  [[nodiscard]] std::size_t gpu_count() const { return gpus_.size(); }

 private:
  void sleep(double seconds) { clock_.sleep_until(clock_.now() + Seconds{seconds}); }

  static void print(const std::string& load, double window_ms, bool cold, Line& line) {
    std::string unknown;
    for (const auto& [reason, count] : line.unknown) {
      unknown += fmt::format("  {} without an energy: {}", count, reason);
    }
    fmt::print("  {:<22}{:>6.0f} ms{:>5}{:>8.2f} J |{} |{}{}\n", load, window_ms, cold ? "cold" : "",
               std::sqrt(line.plain / line.windows), line.settled.text(line.plain), line.immediate.text(line.plain),
               unknown);
    (void)std::fflush(stdout);
  }

  // All GPUs tick together, so windows begin at different moments, to be nearly independent of one another.
  void measure(std::size_t first, std::size_t last) {
    std::vector<Event> events;
    for (std::size_t length = first; length < last; ++length) {
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const double begin = random_.uniform(0, 1.3);
        events.push_back({.after = begin, .gpu = gpu, .length = length, .is_end = false});
        events.push_back({.after = begin + lengths_ms_[length] * 1e-3, .gpu = gpu, .length = length, .is_end = true});
      }
    }
    std::ranges::sort(events, {}, &Event::after);
    std::vector<std::vector<Window>> windows(lines_.size(), std::vector<Window>(gpus_.size()));
    const zeus::Instant start = clock_.now();
    for (const Event& event : events) {
      clock_.sleep_until(start + Seconds{event.after});
      Window& window = windows[event.length][event.gpu];
      const std::string name = std::to_string(event.length);
      if (event.is_end) {
        window.plain_end = gpus_[event.gpu]->energy()->value.value();
        window.measurement = monitors_[event.gpu].end(name);
      } else {
        window.plain_begin = gpus_[event.gpu]->energy()->value.value();
        monitors_[event.gpu].begin(name);
      }
    }
    for (std::size_t length = first; length < last; ++length) {
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const Window& window = windows[length][gpu];
        add(lines_[length], gpu, window, monitors_[gpu].settle(window.measurement));
      }
    }
  }

  void add(Line& line, std::size_t gpu, const Window& window, const zeus::Measurement& settled) {
    const zeus::Measurement& at_once = window.measurement;
    const double truth = truth_.energy(gpu, at_once.end) - truth_.energy(gpu, at_once.start);
    ++line.windows;
    line.plain += std::pow(window.plain_end - window.plain_begin - truth, 2);
    for (const auto& [measurement, tally] :
         {std::pair{&at_once, &line.immediate}, std::pair{&settled, &line.settled}}) {
      const zeus::MeasuredEnergy& measured = measurement->gpu_energy.at(static_cast<int>(gpu));
      if (measured.energy) {
        tally->add(*measured.energy, truth);
      } else {
        ++line.unknown[(tally == &line.settled ? "settled, " : "at once, ") + measured.reason];
      }
    }
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
  Truth truth_;
  zeus::Random random_{3};
  int rounds_;
  std::vector<double> lengths_ms_;
  std::vector<Line> lines_;  // one for each length
};

void print_table(int rounds, double longest, bool cold) {
  std::vector<double> lengths{53, 230, 1070, 5130};
  std::erase_if(lengths, [&](double length) { return length > longest; });
  Experiment experiment{rounds, lengths};
  fmt::print("through the driver: {} windows a line; width also as the median half-width in J\n",
             static_cast<std::size_t>(rounds) * experiment.gpu_count());
  fmt::print("  {:<22}{:>9}{:>5}{:>10} |{:>8}{:>8}{:>7}{:>9} |{:>8}{:>8}{:>7}{:>9}\n", "load", "window", "", "plain",
             "settled", "covers", "width", "", "at once", "covers", "width", "");
  for (const std::string load :
       {"constant:200W", "square:80-300W,37ms", "square:80-300W,200ms", "square:80-300W,1300ms"}) {
    experiment.run(load, cold);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    print_table(argc > 1 ? std::atoi(argv[1]) : 4, argc > 2 ? std::atof(argv[2]) : 5130,
                argc > 3 && std::string_view{argv[3]} == "cold");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_through_driver: {}\n", error.what());
    return 1;
  }
}
