// The GPUs of a try through libzeus.so: a zeus::Training compares limits, or holds one. One thread; the arguments
// outlive it.
#pragma once

#include "job_library/live_devices.hpp"
#include "trial/gpus.hpp"
#include "trial/heard_limits.hpp"
#include "trial/monitor_windows.hpp"

#include <zeus/measure.hpp>
#include <zeus/train.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class LiveGpus final : public trial::Gpus {
 public:
  explicit LiveGpus(LiveDevices& devices)
      : devices_{devices}, meter_{*devices.monitor(), [&devices](int number) { return devices.uuids().at(number); }} {}

  // Decides which limit is kept once limits are compared.
  void set_goal(const PowerGoal& goal, double eta);

  [[nodiscard]] trial::Meter& meter() override { return meter_; }
  [[nodiscard]] bool sets_limits() const override { return devices_.sets_limits(); }
  [[nodiscard]] std::optional<Watts> limit_in_force() const override { return devices_.limit_in_force(); }
  void begin() override;
  void hold(Watts limit) override;
  void compare(const trial::Slices& slices) override;
  void confirm() override;
  void leave() override;
  void begin_epoch() override { training_->begin_epoch(); }
  void progress(std::uint64_t steps) override { training_->progress(steps); }
  void end_epoch() override { training_->end_epoch(); }
  [[nodiscard]] bool comparing() const override { return training_ && training_->profiling(); }
  [[nodiscard]] PowerProfile compared() const override { return training_ ? training_->profile() : compared_; }
  [[nodiscard]] std::optional<Watts> chosen() const override { return heard_.chosen(); }
  [[nodiscard]] std::string left_alone() const override { return heard_.left_alone(); }

 private:
  [[nodiscard]] TrainingOptions options(bool compares);

  LiveDevices& devices_;
  PowerGoal goal_;
  double eta_ = 0.5;
  trial::MonitorWindows<Monitor> meter_;
  std::optional<Training> training_;
  PowerProfile compared_;
  trial::HeardLimits<SettingApplied, SettingRefused, Unoptimized> heard_;
};

}  // namespace zeus::job_library
