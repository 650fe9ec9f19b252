// The windows of an account, on a zeus::Monitor. A template, so that this module needs no monitor: `run` has that of
// its own sampler, libzeus-jobs.so that of libzeus.so. One thread; the monitor outlives it.
#pragma once

#include "records/energy.hpp"
#include "trial/energy_account.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::trial {

template <typename Monitor>
class MonitorWindows final : public Meter {
 public:
  // `uuid` is that of a GPU which the monitor numbers.
  MonitorWindows(Monitor& monitor, std::function<std::string(int)> uuid) : monitor_{monitor}, uuid_{std::move(uuid)} {}

  void begin(std::string_view window) override {
    if constexpr (requires { monitor_.begin(window, true); }) {
      monitor_.begin(window, true);  // in place of one that was left open
    } else {
      monitor_.begin(window);
    }
  }
  jobs::Try::Taken end(std::string_view window) override { return taken(monitor_.end(window)); }

  jobs::Try::Taken settle(std::string_view window) override {
    constexpr Seconds patience{1};
    return taken(monitor_.settle(monitor_.end(window), patience));
  }

  void cancel(std::string_view window) noexcept override {
    try {
      monitor_.cancel(window);
    } catch (const Error&) {
      // The monitor was reset, and the window with it.
      return;
    }
  }

 private:
  template <typename Measurement>
  [[nodiscard]] jobs::Try::Taken taken(const Measurement& measurement) const {
    jobs::Try::Taken taken{.gpus = {}, .time = measurement.time(), .unknown = {}};
    for (const auto& [index, measured] : measurement.gpu_energy) {
      if (measured.energy) {
        taken.gpus.push_back({.gpu = uuid_(index), .energy = *measured.energy});
      } else {
        taken.unknown = measured.reason;
      }
    }
    return taken;
  }

  Monitor& monitor_;
  std::function<std::string(int)> uuid_;
};

}  // namespace zeus::trial
