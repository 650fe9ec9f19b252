// A command that is a script (truth_script.hpp) at one batch size: it starts up, loads a virtual GPU with steps and
// evaluations that take as long as the GPU needs for them under the limit it has just then, prints, and ends. What it
// prints is heard by the real splitter and expressions. It goes on whoever sleeps on its clock, whose world it is while
// it runs. One thread, one command at a time.
#pragma once

#include "backends/virtual/virtual_gpu.hpp"
#include "base/random.hpp"
#include "run/command.hpp"
#include "tests/run/truth_printer.hpp"
#include "tests/run/truth_script.hpp"
#include "tests/support/stepped_clock.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace zeus::truth {

class ScriptedCommand final : public run::Command {
 public:
  // What one command really took, until it reached its target or ended.
  struct Took {
    std::size_t arm = 0;
    int epochs = 0;
    bool whole = false;  // it was not stopped
    Cost cost;
  };
  using Tell = std::function<void(const Took&)>;

  // `luck` decides how many epochs it needs. `tell` is called then.
  ScriptedCommand(const Script& script, std::size_t arm, const run::PatternTexts& patterns,
                  backends::virtual_gpu::VirtualGpu& gpu, test::SteppedClock& clock, Random& draws, Tell tell);
  ScriptedCommand(const ScriptedCommand&) = delete;
  ScriptedCommand& operator=(const ScriptedCommand&) = delete;
  ~ScriptedCommand() override;

  std::vector<run::Progress> wait(Seconds patience) override;
  [[nodiscard]] std::optional<int> exit_code() const override { return code_; }
  void end() override;
  [[nodiscard]] bool told_to_end() const override { return told_to_end_; }
  [[nodiscard]] bool interrupted() override { return false; }
  [[nodiscard]] int times_stopped() const override { return 0; }
  [[nodiscard]] Seen seen() const override { return heard_.seen(); }
  [[nodiscard]] bool in_the_middle_of_a_line() const override { return false; }

 private:
  enum class Phase { cold_start, start_up, step, evaluation, end, cold_end, over };

  // Brings it up to now; returns when something happens next.
  std::optional<Instant> live();
  void enter(Phase phase);
  void leave_phase();
  void end_epoch();
  void tell();
  void exit(int code);
  void load(const physics::Demand& demand);

  Script script_;
  std::size_t index_;  // of its arm
  Arm arm_;
  backends::virtual_gpu::VirtualGpu& gpu_;
  test::SteppedClock& clock_;
  Random& draws_;
  Tell tell_;
  int epochs_;
  run::HeardProgress heard_;
  Printer printer_;
  Phase phase_ = Phase::cold_start;
  double left_ = 0.0;   // of this phase, in seconds at the highest clock
  double speed_ = 1.0;  // since `at_`
  Instant at_;
  int epoch_ = 0;  // over
  int step_ = 0;   // over, of this epoch
  Instant began_;
  Joules energy_at_begin_;
  bool told_ = false;
  std::optional<int> code_;
  bool told_to_end_ = false;
};

}  // namespace zeus::truth
