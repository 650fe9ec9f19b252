// A command that is a script's training (scripted_training.hpp) on a virtual clock, with a virtual GPU in this process.
// The real splitter and expressions read its output. It advances whenever any code sleeps on its clock. One thread, one
// command at a time.
#pragma once

#include "backends/virtual/virtual_gpu.hpp"
#include "base/random.hpp"
#include "run/command.hpp"
#include "tests/run/scripted_training.hpp"
#include "tests/support/stepped_clock.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zeus::truth {

// The virtual GPU as a training in this process sees it.
ScriptedTraining::Gpu seen_by(backends::virtual_gpu::VirtualGpu& gpu);

class ScriptedCommand final : public run::Command {
 public:
  ScriptedCommand(const Script& script, std::size_t arm, const run::PatternTexts& patterns,
                  backends::virtual_gpu::VirtualGpu& gpu, test::SteppedClock& clock, Random& draws,
                  ScriptedTraining::Tell tell);
  ScriptedCommand(const ScriptedCommand&) = delete;
  ScriptedCommand& operator=(const ScriptedCommand&) = delete;
  ~ScriptedCommand() override;

  std::vector<trial::Progress> wait(Seconds patience) override;
  [[nodiscard]] std::optional<int> exit_code() const override { return code_; }
  [[nodiscard]] std::optional<std::string> why_not_run() const override { return std::nullopt; }
  void end() override;
  [[nodiscard]] bool told_to_end() const override { return told_to_end_; }
  [[nodiscard]] std::optional<int> asked_to_end() override { return std::nullopt; }
  [[nodiscard]] Seconds stood_still() const override { return {}; }
  [[nodiscard]] Seen seen() const override { return heard_.seen(); }
  void between_its_output(const std::function<void(bool mid_line)>& write) override { write(false); }

 private:
  // Brings it up to now; returns the time of its next event.
  std::optional<Instant> live();
  void exit(int code);

  test::SteppedClock& clock_;
  run::HeardProgress heard_;
  ScriptedTraining training_;
  std::optional<int> code_;
  bool told_to_end_ = false;
};

}  // namespace zeus::truth
