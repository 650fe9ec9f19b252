#include "base/environment.hpp"
#include "library/machine.hpp"
#include "train/live_parts.hpp"
#include "train/outer_run.hpp"
#include "train/session.hpp"

#include <zeus/run_values.hpp>
#include <zeus/train.hpp>

#include <memory>

namespace zeus {

namespace {

std::unique_ptr<train::Session> session_on_this_machine(const TrainingOptions& options) {
  const library::Machine& machine = library::this_machine();
  std::shared_ptr<Monitor> monitor = options.monitor;
  if (!monitor) {
    MonitorOptions measured;
    measured.gpus = options.gpus;
    measured.cpus = std::vector<int>{};
    measured.synchronize = options.synchronize;
    monitor = std::make_shared<Monitor>(measured);
  }
  train::SessionParts parts = train::live_parts(
      std::move(monitor), machine.sampler->sampler()->devices().gpus, [] { return library::lease_book(); },
      machine.clock);
  parts.outer = train::OuterRun::find(Environment::of_process(), machine.clock);
  return std::make_unique<train::Session>(std::move(parts), options);
}

}  // namespace

RunValues run_values() {
  return train::run_values_of(Environment::of_process());
}

Training::Training(const Options& options) : session_{session_on_this_machine(options)} {
}

}  // namespace zeus
