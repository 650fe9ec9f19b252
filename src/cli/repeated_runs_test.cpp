#include "cli/repeated_runs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zeus::cli {
namespace {

Measurement run_of(Seconds time, std::optional<Joules> energy, Joules uncertainty = Joules{0.1}) {
  Measurement run;
  run.start = 50_s;
  run.end = run.start + time;
  run.gpu_energy[0] =
      energy ? MeasuredEnergy{.energy = Energy{.value = *energy, .uncertainty = uncertainty, .systematic = 2_J},
                              .reason = {},
                              .remark = {}}
             : MeasuredEnergy{.energy = {}, .reason = "lost", .remark = {}};
  return run;
}

TEST(RepeatedRuns, HaveAMeanWithTheIntervalThatTheyLeave) {
  const std::vector runs = {run_of(1_s, 100_J), run_of(2_s, 110_J), run_of(3_s, 120_J)};
  const RepeatedRuns all = repeated(runs);
  EXPECT_EQ(all.count, 3U);
  EXPECT_DOUBLE_EQ(all.mean.time().value(), 2.0);
  // Student's 4.303 with two degrees of freedom, a deviation of 1 s and of 10 J, three runs.
  EXPECT_NEAR(all.time_uncertainty.value(), 4.303 / 1.7320508, 1e-6);
  const Energy& energy = all.mean.gpu_energy.at(0).energy.value();
  EXPECT_DOUBLE_EQ(energy.value.value(), 110.0);
  EXPECT_NEAR(energy.uncertainty.value(), 43.03 / 1.7320508, 1e-6);
  EXPECT_EQ(energy.systematic, 2_J);
  EXPECT_EQ(all.mean.gpu_energy.at(0).remark, "from 100 to 120 J");
}

TEST(RepeatedRuns, AreNoSurerThanMeasuringIs) {
  const std::vector runs = {run_of(1_s, 100_J, 8_J), run_of(1_s, 100_J, 8_J), run_of(1_s, 100_J, 8_J),
                            run_of(1_s, 100_J, 8_J)};
  EXPECT_DOUBLE_EQ(repeated(runs).mean.gpu_energy.at(0).energy->uncertainty.value(), 4.0);
}

TEST(RepeatedRuns, AreUnknownWhereOneIs) {
  const std::vector runs = {run_of(1_s, 100_J), run_of(1_s, std::nullopt)};
  const MeasuredEnergy measured = repeated(runs).mean.gpu_energy.at(0);
  EXPECT_FALSE(measured.energy);
  EXPECT_EQ(measured.reason, "run 2: lost");
}

}  // namespace
}  // namespace zeus::cli
