#include "tests/run/scripted_command.hpp"

#include <algorithm>
#include <utility>

namespace zeus::truth {

ScriptedTraining::Gpu seen_by(backends::virtual_gpu::VirtualGpu& gpu) {
  return {.load = [&gpu](const physics::Demand& demand) { gpu.set_load(physics::Load::constant(demand)); },
          .work = [&gpu] { return gpu.truth().work.value(); },
          .speed = [&gpu] { return gpu.operating_point().speed; },
          .energy = [&gpu](Instant at) { return gpu.true_energy(at); }};
}

ScriptedCommand::ScriptedCommand(const Script& script, std::size_t arm, const run::PatternTexts& patterns,
                                 backends::virtual_gpu::VirtualGpu& gpu, test::SteppedClock& clock, Random& draws,
                                 ScriptedTraining::Tell tell)
    : clock_{clock},
      heard_{patterns},
      training_{script,
                arm,
                draws,
                seen_by(gpu),
                printing([this](std::size_t stream, std::string_view bytes) { heard_.hear(stream, bytes); }),
                std::move(tell),
                clock.now(),
                clock.now()} {
  clock_.set_world([this] { return live(); });
}

ScriptedCommand::~ScriptedCommand() {
  end();
  clock_.set_world({});
}

// Limits only change between two calls, while time stands still.
std::optional<Instant> ScriptedCommand::live() {
  if (code_) {
    return std::nullopt;
  }
  training_.live(clock_.now());
  if (training_.is_over()) {
    exit(0);
    return std::nullopt;
  }
  return training_.next();
}

void ScriptedCommand::exit(int code) {
  code_ = code;
  heard_.finish();
}

std::vector<trial::Progress> ScriptedCommand::wait(Seconds patience) {
  const Instant deadline = clock_.now() + patience;
  while (!code_ && !heard_.any() && clock_.now() < deadline) {
    const std::optional<Instant> next = live();
    if (next && !heard_.any()) {
      clock_.sleep_until(std::min(*next, deadline));
      (void)live();
    }
  }
  return heard_.take();
}

void ScriptedCommand::end() {
  if (!code_) {
    told_to_end_ = true;
    (void)live();
    training_.end();
    if (!code_) {
      exit(ended_by_signal);
    }
  }
}

}  // namespace zeus::truth
