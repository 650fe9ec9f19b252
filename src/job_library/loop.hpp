// A training that is the user's own loop: the source of a try, whose epochs and steps it reports when they happen.
// The loop learns what the driver wants when it asks whether to continue. One thread; the arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "records/job_definition.hpp"
#include "trial/instruments.hpp"
#include "trial/progress.hpp"
#include "trial/source.hpp"
#include "trial/trial.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace zeus::job_library {

class Loop final : public trial::Source {
 public:
  // `stood_still` is for how long this process has been suspended so far; empty where that is not known.
  Loop(trial::Instruments& instruments, std::function<Seconds()> stood_still, Clock& clock)
      : process_stood_still_{std::move(stood_still)}, trial_{*this, instruments, clock} {}

  // The target, at which a training's account is closed; without one it ends after so many epochs.
  void set_terms(const std::optional<records::JobTarget>& target, int max_epochs);
  [[nodiscard]] trial::Trial& trial() { return trial_; }

  void start(int batch_size, std::uint64_t seed) override;
  std::vector<trial::Progress> go_on() override { return {}; }
  void stop() override { told_to_end_ = true; }
  [[nodiscard]] State state() override;

  // Called by the loop. No call has an effect once the training is over.
  void begin_step();
  void end_steps();
  void report(double metric);
  void end_epoch();
  void begin_epoch() { in_epoch_ = !over(); }
  void end(int exit_code);
  // Its user leaves it before its end.
  void interrupt();

  // True once it was told to end, or has ended.
  [[nodiscard]] bool over() const { return told_to_end_ || exit_code_; }
  [[nodiscard]] bool has_ended() const { return exit_code_.has_value(); }
  [[nodiscard]] std::uint64_t trainings() const { return trainings_; }  // started so far
  [[nodiscard]] int epochs() const { return trial_.progress().epochs(); }
  [[nodiscard]] int batch_size() const { return batch_size_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  void look_for_standstill();
  void over_with(int exit_code);

  std::function<Seconds()> process_stood_still_;
  trial::Trial trial_;
  bool has_target_ = false;
  int max_epochs_ = 0;
  std::uint64_t trainings_ = 0;

  // State of the training.
  int batch_size_ = 0;
  std::uint64_t seed_ = 0;
  std::optional<int> exit_code_;
  bool interrupted_ = false;
  bool told_to_end_ = false;
  bool in_epoch_ = false;
  bool in_step_ = false;
  Seconds still_before_;  // of this process, when the training began
  Seconds stood_still_;   // of the training
};

}  // namespace zeus::job_library
