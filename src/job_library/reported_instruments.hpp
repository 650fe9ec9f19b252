// Devices that the user measures and sets: time and energy are what the user reports. One thread.
#pragma once

#include "trial/instruments.hpp"

#include <zeus/energy.hpp>

namespace zeus::job_library {

class ReportedInstruments final : public trial::Instruments {
 public:
  void begin() override;
  void hold(Watts limit) override;
  void leave() override;
  void measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) override;
  [[nodiscard]] std::vector<records::LimitProfile> measured(
      const std::optional<trial::EpochShape>& /*shape*/) override {
    return measured_;
  }
  Taken look() override;
  Taken close() override;
  void take(const trial::Progress& /*progress*/) override {}
  void measure_again() override {}
  void stay() override {}
  [[nodiscard]] State state() override;

  // Impossible numbers are invalid_argument Errors.
  void tell(Seconds time, std::optional<Energy> energy);
  void tell(std::vector<records::LimitProfile> limits);
  [[nodiscard]] const std::vector<Watts>& to_measure() const { return to_measure_; }

 private:
  Taken taken_;
  bool open_ = false;
  std::optional<Watts> limit_;
  std::vector<Watts> to_measure_;
  trial::Reference reference_;
  bool measured_any_ = false;  // limits of this training
  std::vector<records::LimitProfile> measured_;
};

}  // namespace zeus::job_library
