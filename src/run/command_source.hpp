// A training command as the source of a try: started with the values of the try, watched from outside. One thread, but
// for between_its_output(); the arguments outlive it.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "run/command.hpp"
#include "run/command_template.hpp"
#include "run/output_study.hpp"
#include "run/run_options.hpp"
#include "trial/source.hpp"

#include <zeus/units.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace zeus::run {

class CommandSource final : public trial::Source {
 public:
  CommandSource(const RunOptions& options, const Environment& environment, Clock& clock, Launch launch);

  void start(int batch_size, std::uint64_t seed) override;
  std::vector<trial::Progress> go_on() override;
  void stop() override { command_->end(); }
  [[nodiscard]] State state() override;

  [[nodiscard]] bool has_started() const { return command_ != nullptr; }
  // The command that was started last.
  [[nodiscard]] Command& command() { return *command_; }
  // Command::between_its_output() of the command that runs now; at once if none does. Any thread.
  void between_its_output(const std::function<void(bool mid_line)>& write);
  [[nodiscard]] Instant began() const { return began_; }
  // Since it was started.
  [[nodiscard]] Seconds time() const { return clock_.now() - began_; }
  // Lines of its output that may show steps, of one that showed none and has ended.
  [[nodiscard]] std::optional<ProposedSteps> proposed_steps() const { return study_->propose().steps; }

 private:
  // Returns the former one.
  std::unique_ptr<Command> replace(std::unique_ptr<Command> command);

  const RunOptions& options_;
  const Environment& environment_;
  Clock& clock_;
  Launch launch_;
  CommandTemplate words_;
  std::mutex replacing_;  // the command, while other threads write between its output
  std::unique_ptr<Command> command_;
  // Of the command's thread; used until a step is seen.
  std::optional<OutputStudy> study_;
  std::atomic<bool> steps_seen_ = false;
  Instant began_;
};

}  // namespace zeus::run
