// Measures power limits during a training, with a zeus::Training of its own, and keeps the one that suits the goal
// best. Each gets about the same time, once the first steps are over. If epochs are too short for that, or no steps are
// reported, whole epochs count as steps. The result for a step is converted to one for an epoch. One thread.
#pragma once

#include "base/clock.hpp"
#include "records/limit_profile.hpp"
#include "trial/limit_slices.hpp"

#include <zeus/measure.hpp>
#include <zeus/train.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class LimitTrial {
 public:
  struct Terms {
    std::shared_ptr<Monitor> monitor;
    PowerGoal goal;
    double eta = 0.5;
    std::vector<Watts> limits;
    Seconds each;
  };

  LimitTrial(Terms terms, Clock& clock) : terms_{std::move(terms)}, clock_{clock} {}
  LimitTrial(const LimitTrial&) = delete;
  LimitTrial& operator=(const LimitTrial&) = delete;
  ~LimitTrial() = default;

  void begin_step();
  void end_steps();
  void end_epoch();
  // Measures again what is being measured, because time has passed that the training did not use.
  void begin_again();

  [[nodiscard]] bool measuring() const;
  // Why the limits were not set; empty if they were.
  [[nodiscard]] const std::string& left_alone() const { return left_alone_; }
  // The best limit, once it is in force.
  [[nodiscard]] std::optional<Watts> chosen() const { return chosen_; }
  // As epochs, ascending; empty until that is known.
  [[nodiscard]] std::vector<records::LimitProfile> measured(const std::optional<trial::EpochShape>& shape) const;

 private:
  void open(const SweepProfiling& profiling, std::uint32_t wait_steps);
  void fit_slices();
  void pass_on_epoch();
  void hear(const TrainingEvent& event);

  Terms terms_;
  Clock& clock_;
  bool by_epochs_ = false;
  std::optional<Training> training_;
  std::string left_alone_;
  std::optional<Watts> chosen_;
  std::uint64_t steps_ = 0;  // begun before training_ was made
  Instant first_step_;
  std::uint64_t epoch_steps_ = 0;
  Instant epoch_began_;
  std::uint64_t untold_epochs_ = 0;
  std::optional<Instant> last_word_;  // the last report of epochs
};

}  // namespace zeus::job_library
