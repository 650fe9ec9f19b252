// The windows of a training's account, on the public Monitor of a job's GPUs. One thread; the devices outlive it.
#pragma once

#include "job_library/live_devices.hpp"
#include "trial/energy_account.hpp"

#include <zeus/measure.hpp>

#include <string_view>

namespace zeus::job_library {

class LiveMeter final : public trial::Meter {
 public:
  explicit LiveMeter(const LiveDevices& devices) : devices_{devices} {}

  void begin(std::string_view window) override { devices_.monitor()->begin(window, true); }
  jobs::Try::Taken end(std::string_view window) override { return taken(devices_.monitor()->end(window)); }
  jobs::Try::Taken settle(std::string_view window) override;
  void cancel(std::string_view window) noexcept override;

 private:
  [[nodiscard]] jobs::Try::Taken taken(const Measurement& measurement) const;

  const LiveDevices& devices_;
};

}  // namespace zeus::job_library
