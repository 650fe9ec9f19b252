// The GPUs of a try over sessions of this program (train::Session), one after another. One thread.
#pragma once

#include "base/clock.hpp"
#include "train/session.hpp"
#include "trial/gpus.hpp"
#include "trial/heard_limits.hpp"

#include <zeus/power.hpp>
#include <zeus/training_options.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace zeus::trial_sessions {

class SessionGpus final : public trial::Gpus {
 public:
  struct Parts {
    std::function<std::unique_ptr<train::Session>(const TrainingOptions&)> open;
    std::unique_ptr<trial::Meter> meter;
    bool sets_limits = false;
    std::function<std::optional<Watts>()> limit_in_force;
    Clock& clock;
  };
  // `base` has the goal and the mode of all sessions, without a listener.
  SessionGpus(Parts parts, TrainingOptions base);

  [[nodiscard]] trial::Meter& meter() override { return *parts_.meter; }
  [[nodiscard]] bool sets_limits() const override { return parts_.sets_limits; }
  [[nodiscard]] std::optional<Watts> limit_in_force() const override { return parts_.limit_in_force(); }
  void begin() override;
  void hold(Watts limit) override;
  void compare(const trial::Slices& slices) override;
  void confirm() override;
  void leave() override;
  void begin_epoch() override { session_->begin_epoch(); }
  void progress(std::uint64_t steps) override { session_->progress(steps); }
  void end_epoch() override { session_->end_epoch(); }
  [[nodiscard]] bool comparing() const override { return session_ && session_->profiling(); }
  [[nodiscard]] PowerProfile compared() const override { return session_ ? session_->profile() : compared_; }
  [[nodiscard]] std::optional<Watts> chosen() const override { return heard_.chosen(); }
  [[nodiscard]] std::string left_alone() const override { return heard_.left_alone(); }

  // When this training lost limits that had been set, and when one was set again.
  struct Loss {
    Instant from;
    std::optional<Instant> until;
  };
  [[nodiscard]] const std::optional<Loss>& loss() const { return loss_; }
  // Of this training's sessions that are over, together; what was chosen is the last one's.
  [[nodiscard]] const std::optional<TrainingResult>& result() const { return result_; }

 private:
  void open(TrainingOptions options, bool compares);
  void hear(const TrainingEvent& event, bool compares);

  Parts parts_;
  TrainingOptions base_;
  std::unique_ptr<train::Session> session_;
  PowerProfile compared_;
  std::optional<TrainingResult> result_;
  trial::HeardLimits<SettingApplied, SettingRefused, Unoptimized> heard_;
  bool set_any_ = false;
  std::optional<Loss> loss_;
};

}  // namespace zeus::trial_sessions
