// Measures power limits while a training goes on, by a zeus::Training of its own, and keeps the one that the goal likes
// best: each for about so long, once the first steps are over. Where epochs are too short for that, or no steps are
// told of, whole epochs are its steps. What a step takes becomes what an epoch takes. One thread.
#pragma once

#include "base/clock.hpp"
#include "job_library/instruments.hpp"
#include "records/limit_profile.hpp"

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
  // Five ticks of a counter that counts ten times a second.
  static constexpr Seconds shortest_slice{0.5};

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

  [[nodiscard]] bool measuring() const;
  // Why the limits were left alone; empty where they were not.
  [[nodiscard]] const std::string& left_alone() const { return left_alone_; }
  // In force, once it is the choice.
  [[nodiscard]] std::optional<Watts> chosen() const { return chosen_; }
  // As epochs, ascending; empty while that cannot be said.
  [[nodiscard]] std::vector<records::LimitProfile> measured(const EpochShape& shape) const;

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
  std::uint64_t steps_ = 0;  // begun before the training
  Instant first_step_;
  std::uint64_t epoch_steps_ = 0;
  Instant epoch_began_;
  std::uint64_t untold_epochs_ = 0;
  std::optional<Instant> last_word_;  // of epochs
};

}  // namespace zeus::job_library
