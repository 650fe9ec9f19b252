// A try that is measured and limited on this machine's GPUs, through libzeus.so: a Monitor, leases, and a Training if
// limits are compared. One thread; what it is given outlives it.
#pragma once

#include "base/clock.hpp"
#include "job_library/instruments.hpp"
#include "job_library/limit_trial.hpp"
#include "job_library/live_devices.hpp"
#include "trial/energy_account.hpp"
#include "trial/monitor_windows.hpp"

#include <zeus/device.hpp>
#include <zeus/error.hpp>
#include <zeus/power_choice.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class LiveInstruments final : public Instruments {
 public:
  // `profile_time` is for each limit.
  LiveInstruments(LiveDevices& devices, Seconds profile_time, Clock& clock)
      : devices_{devices},
        profile_time_{profile_time},
        clock_{clock},
        meter_{*devices.monitor(), [&devices](int number) { return devices.uuids().at(number); }} {}

  // Decides which limit is kept once the limits are measured.
  void set_goal(const PowerGoal& goal, double eta);

  void begin() override;
  void hold(Watts limit) override;
  void leave() override;
  void measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) override;
  [[nodiscard]] std::vector<records::LimitProfile> measured(const std::optional<trial::EpochShape>& shape) override;
  Taken look() override { return account_->look(); }
  Taken close() override;
  void begin_step() override;
  void end_steps() override;
  void end_epoch() override;
  [[nodiscard]] State state() override;

 private:
  // The only limit, observed over a whole epoch.
  struct Watch {
    Watts limit;
    std::optional<Taken> since;  // what had been taken when the epoch began
    bool stepped = false;
    std::optional<records::LimitProfile> seen;
  };

  void renew();
  void note(const Error& error);
  // What was measured while the process was suspended is measured again.
  void notice_suspension();

  LiveDevices& devices_;
  Seconds profile_time_;
  Clock& clock_;
  PowerGoal goal_;
  double eta_ = 0.5;
  trial::MonitorWindows<Monitor> meter_;
  std::optional<trial::EnergyAccount> account_;
  std::vector<GpuLease> leases_;
  std::optional<Watts> held_;
  Instant renewed_;
  trial::Reference reference_;
  bool measured_any_ = false;  // limits of this training, before
  std::optional<LimitTrial> trial_;
  std::optional<Watch> watch_;
  std::string left_alone_;
  std::optional<Watts> found_;
  bool set_any_ = false;
  Seconds still_;  // as of the last notice
  bool stood_still_ = false;
};

}  // namespace zeus::job_library
