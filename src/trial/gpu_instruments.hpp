// The instruments of a training on this machine's GPUs: what it takes, and its power limits. One thread; the arguments
// outlive it.
#pragma once

#include "base/clock.hpp"
#include "trial/energy_account.hpp"
#include "trial/gpus.hpp"
#include "trial/instruments.hpp"
#include "trial/limit_slices.hpp"
#include "trial/limit_trial.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::trial {

class GpuInstruments final : public Instruments {
 public:
  // `profile_time` is for each limit.
  GpuInstruments(Gpus& gpus, Seconds profile_time, Clock& clock)
      : gpus_{gpus}, profile_time_{profile_time}, limits_{gpus, clock} {}

  void begin() override;
  void hold(Watts limit) override { limits_.hold(limit); }
  void leave() override { limits_.leave(); }
  void measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) override;
  [[nodiscard]] std::vector<records::LimitProfile> measured(const std::optional<EpochShape>& shape) override;
  Taken look() override { return account_->look(); }
  Taken close() override;
  void take(const Progress& progress) override { limits_.take(progress); }
  void measure_again() override { limits_.measure_again(); }
  void stay() override { limits_.stay(); }
  [[nodiscard]] State state() override;

  // For a training without a job: finds its best limit within as few steps as possible.
  void search(Seconds most_for_a_limit) { limits_.search(most_for_a_limit); }
  // What the training took after close().
  [[nodiscard]] Taken since_closed() { return afterwards_ ? afterwards_->look() : Taken{}; }
  // As of LimitTrial.
  [[nodiscard]] std::size_t unmeasured() const { return limits_.unmeasured(); }

 private:
  Gpus& gpus_;
  Seconds profile_time_;
  LimitTrial limits_;
  Reference reference_;
  std::optional<EnergyAccount> account_;
  std::optional<EnergyAccount> afterwards_;
  std::optional<Watts> found_;  // the limit that was in force before
  bool measured_any_ = false;   // limits of this training
};

}  // namespace zeus::trial
