// The accuracy of windows in real time, through the virtual NVML driver: run it under `zeus virtual 1xA100 --`.
//   measure_through_driver [WINDOWS [LONGEST_MS]]
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
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

class Truth {
 public:
  Truth() {
    if (read_ == nullptr || submit_ == nullptr) {
      throw zeus::Error{zeus::ErrorKind::unavailable, "this is no virtual driver",
                        "run under `zeus virtual 1xA100 --`, of the same build"};
    }
  }
  // At a moment close to now; power is taken to hold until then.
  [[nodiscard]] double energy_at(zeus::Seconds moment) const {
    zeus_virtual_truth now{};
    read_(0, &now);
    return now.energy_j + now.power_w * (moment.value() - now.time_s);
  }
  void load(const std::string& text) const { submit_(0, text.c_str()); }

 private:
  zeus::DynamicLibrary driver_ = *zeus::DynamicLibrary::open(std::array<std::string, 1>{"libnvidia-ml.so.1"});
  decltype(&zeus_virtual_read_truth) read_ =
      driver_.function<decltype(zeus_virtual_read_truth)>({"zeus_virtual_read_truth"});
  decltype(&zeus_virtual_submit_load) submit_ =
      driver_.function<decltype(zeus_virtual_submit_load)>({"zeus_virtual_submit_load"});
};

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
    return fmt::format("{:>6.1f} %{:>5.0f} %{:>8.2f} J", 100 * std::sqrt(squares / plain_squares),
                       100.0 * covered / static_cast<double>(half_widths.size()), half_widths[half_widths.size() / 2]);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 100;
  const double longest = argc > 2 ? std::atof(argv[2]) : 5130;
  zeus::SystemClock clock;
  zeus::backends::nvml::NvmlBackend nvml{clock};
  const std::array<zeus::device::Backend*, 1> backends{&nvml};
  const auto devices = zeus::measure::visible_devices(backends, zeus::Environment::of_process());
  const auto source = std::make_shared<zeus::measure::SamplerSource>(devices, clock);
  zeus::Monitor monitor{std::make_unique<zeus::measure::Windows>(source, zeus::MonitorOptions{})};
  const Truth truth;
  zeus::Random random{3};
  const auto sleep = [&](double seconds) { clock.sleep_until(clock.now() + zeus::Seconds{seconds}); };
  fmt::print("  {:<22}{:>10} |{:>24} |{:>24}\n", "load", "window", "settled", "at once");
  for (const std::string load :
       {"constant:200W", "square:80-300W,37ms", "square:80-300W,200ms", "square:80-300W,1300ms"}) {
    for (const double window_ms : {53.0, 230.0, 1070.0, 5130.0}) {
      if (window_ms > longest) {
        continue;
      }
      Tally settled;
      Tally immediate;
      double plain = 0;
      for (int i = 0; i < windows; ++i) {
        truth.load(load);
        sleep(random.uniform(0.4, 1.7));
        const auto first = devices.gpus[0]->energy();
        monitor.begin("w");
        const zeus::Instant begun = clock.now();
        const double begin_truth = truth.energy_at(begun - zeus::Instant{});
        clock.sleep_until(begun + zeus::Milliseconds{window_ms});
        const auto last = devices.gpus[0]->energy();
        const zeus::Measurement at_once = monitor.end("w");
        const zeus::Seconds ended = clock.now() - zeus::Instant{};
        // The truth is read after each edge; between the two the power is that of the moment.
        const double power = 1e3 * (truth.energy_at(ended + zeus::Seconds{1e-3}) - truth.energy_at(ended));
        const double end_truth = truth.energy_at(ended) - power * (ended - at_once.end).value();
        const double begin_shift = power * (begun - zeus::Instant{} - at_once.start).value();
        const double energy = end_truth - begin_truth + begin_shift;
        plain += std::pow((last->value - first->value).value() - energy, 2);
        immediate.add(at_once.gpu_energy.at(0), energy);
        settled.add(monitor.settle(at_once).gpu_energy.at(0), energy);
      }
      fmt::print("  {:<22}{:>7.0f} ms |{:>24} |{:>24}\n", load, window_ms, settled.text(plain), immediate.text(plain));
      std::fflush(stdout);
    }
  }
}
