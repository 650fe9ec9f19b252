// Shared by tests of a training session: four virtual V100s that train, with events and messages recorded. One thread.
#pragma once

#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_training.hpp"

#include "base/log.hpp"
#include "optimize/cost/energy_time_cost.hpp"
#include "physics/gpu_model.hpp"
#include "train/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace zeus::test {

inline const physics::GpuModel& v100() {
  return physics::preset("V100");
}

// For a step of one warm GPU.
inline Joules cost_of(const physics::GpuModel& model, const TrainingWork& work, const PowerSetting& setting,
                      double eta = 0.5) {
  const SettledStep step = settled_step(model, work, setting);
  return optimize::EnergyTimeCost{eta, model.limits.max}.of(step.energy, step.time);
}

inline Joules best_cost(const physics::GpuModel& model, const TrainingWork& work, double eta = 0.5) {
  Joules best{1e300};
  for (Watts limit = model.limits.max; limit >= model.limits.min; limit -= 25_W) {
    best = std::min(best, cost_of(model, work, {.limit = limit, .clock = {}}, eta));
  }
  return best;
}

template <typename Event>
std::vector<Event> of_kind(const std::vector<TrainingEvent>& events) {
  std::vector<Event> found;
  for (const TrainingEvent& event : events) {
    if (const auto* const one = std::get_if<Event>(&event)) {
      found.push_back(*one);
    }
  }
  return found;
}

// Trains this many epochs of this many steps, or until the session stops it.
inline void run_epochs(train::Session& session, VirtualTraining& training, int epochs, int steps) {
  for (int epoch = 0; epoch < epochs && session.next_epoch(); ++epoch) {
    for (int step = 0; step < steps; ++step) {
      session.begin_step();
      training.step();
    }
    session.end_steps();
  }
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.listener = [this](const TrainingEvent& event) { events_.push_back(event); };
    log::set_sink([this](log::Level, std::string_view line) { said_.emplace_back(line); });
  }
  SessionTest(const SessionTest&) = delete;
  SessionTest& operator=(const SessionTest&) = delete;
  ~SessionTest() override { log::set_sink({}); }

  TrainingOptions options_;
  std::vector<TrainingEvent> events_;
  std::vector<std::string> said_;
  TrainingWork work_ = work_of("cifar100", v100());
  VirtualTraining training_{{v100(), v100(), v100(), v100()}, work_, 1};
  TemporaryFolder folder_;
};

}  // namespace zeus::test
