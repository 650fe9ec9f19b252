#include "physics/training_profile.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace zeus::physics {
namespace {

std::vector<EpochObservation> epochs_of(const GpuModel& model, const TrainingProfile& truth,
                                        const std::vector<double>& limits) {
  std::vector<EpochObservation> epochs;
  for (const double limit : limits) {
    epochs.push_back(predict(model, Watts{limit}, truth));
    epochs.back().limit = Watts{limit};
  }
  return epochs;
}

// From four limits, it predicts what was never measured to within 2 %, whatever the workload.
TEST(TrainingProfile, IsFoundAgainFromAFewEpochs) {
  const GpuModel& model = preset("V100");
  Random random{3};
  for (int i = 0; i < 50; ++i) {
    const TrainingProfile truth{Seconds{random.uniform(1, 10'000)}, random.uniform(0.3, 0.98),
                                random.uniform(0.2, 1.8)};
    const TrainingProfile found = fit_profile(model, epochs_of(model, truth, {100, 150, 200, 250}));
    for (const double limit : {125.0, 175.0, 225.0}) {
      const EpochObservation said = predict(model, Watts{limit}, found);
      const EpochObservation seen = predict(model, Watts{limit}, truth);
      EXPECT_NEAR(said.time / seen.time, 1.0, 0.02);
      EXPECT_NEAR(said.power / seen.power, 1.0, 0.02);
    }
  }
}

TEST(TrainingProfile, OneLimitIsNotEnough) {
  const GpuModel& model = preset("V100");
  const TrainingProfile truth{100_s, 0.8, 1.0};
  EXPECT_THROW(static_cast<void>(fit_profile(model, epochs_of(model, truth, {150}))), Error);
  EXPECT_THROW(static_cast<void>(fit_profile(model, epochs_of(model, truth, {150, 150}))), Error);
}

TEST(TrainingProfile, AnEpochAtTheHighestClockTakesWhatTheProfileSays) {
  const GpuModel model = preset("A40");
  const TrainingProfile profile{100_s, 0.7, 0.3};
  const EpochObservation epoch = predict(model, model.limits.max, profile);
  EXPECT_NEAR(epoch.time.value(), 100.0, 1e-9) << "kernels this light need no limit";
  const Watts expected = model.power.waiting + 0.7 * 0.3 * model.power.dynamic;
  EXPECT_NEAR(epoch.power.value(), expected.value(), 1e-9);
}

}  // namespace
}  // namespace zeus::physics
