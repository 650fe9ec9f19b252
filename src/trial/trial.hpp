// A try of a recurring job, whatever trains: counts its epochs and steps, has its instruments measure them, and passes
// on to the driver what it must know. One thread; the arguments outlive it.
#pragma once

#include "base/clock.hpp"
#include "jobs/try.hpp"
#include "records/job_definition.hpp"
#include "trial/instruments.hpp"
#include "trial/progress.hpp"
#include "trial/source.hpp"
#include "trial/step_series.hpp"
#include "trial/training_progress.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::trial {

class Trial final : public jobs::Try {
 public:
  Trial(Source& source, Instruments& instruments, Clock& clock)
      : source_{source}, instruments_{instruments}, clock_{clock} {}

  // At the target the account of a try is closed.
  void set_target(const std::optional<records::JobTarget>& target) { target_ = target; }

  void start(int batch_size, std::uint64_t seed) override;
  void hold(Watts limit) override { instruments_.hold(limit); }
  void leave() override { instruments_.leave(); }
  void measure(const std::vector<Watts>& limits, const Known& known) override { instruments_.measure(limits, known); }
  std::vector<Event> go_on() override;
  void stop() override { source_.stop(); }
  [[nodiscard]] State state() override;
  [[nodiscard]] std::vector<records::LimitProfile> measured() override;
  [[nodiscard]] Taken taken_so_far() override { return instruments_.look(); }
  Taken close() override { return instruments_.close(); }

  // What the training has done, at the time at which that is seen.
  void take(const Progress& progress);
  // The training has ended: nothing that follows is its own.
  void end();
  // Whether there are events for go_on().
  [[nodiscard]] bool has_news() const { return !events_.empty(); }

  [[nodiscard]] const TrainingProgress& progress() const { return progress_; }
  // Whether a reported metric reached the target.
  [[nodiscard]] bool has_reached() const { return reached_; }
  [[nodiscard]] bool has_seen_steps() const { return step_reports_ > 0; }
  // By the end of the training.
  [[nodiscard]] int epochs_seen() const { return epochs_seen_; }

 private:
  void notice_standstill();

  Source& source_;
  Instruments& instruments_;
  Clock& clock_;
  std::optional<records::JobTarget> target_;

  // Of the present training.
  StepSeries series_;
  TrainingProgress progress_;
  std::vector<Event> events_;
  bool reached_ = false;
  int step_reports_ = 0;  // seen, up to those that show how it starts
  bool ended_ = false;
  int epochs_seen_ = 0;  // by its end
  Seconds stood_still_;
  Instant stayed_;
};

}  // namespace zeus::trial
