#include "train/result_file.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/record_properties.hpp"

#include <gtest/gtest.h>

namespace zeus::train {
namespace {

TEST(ResultFile, HasTheFormThatTheDocumentationShows) {
  const Energy energy{.value = 1000_J, .uncertainty = 2_J, .systematic = std::nullopt, .method = EnergyMethod::counter};
  const PowerSetting optimum{.limit = 150_W, .clock = std::nullopt};
  TrainingResult result;
  result.stopped_by = StopReason::target_reached;
  result.epochs = {{.number = 1,
                    .steps = 100,
                    .time = 11_s,
                    .steps_time = 10_s,
                    .energy = energy,
                    .cost = 1875_J,
                    .metric = 0.66,
                    .profiled = true}};
  result.time = 11_s;
  result.energy = energy;
  result.cost = 1875_J;
  result.max_power = 250_W;
  result.gpus = 1;
  result.metric = 0.66;
  result.profiling_steps = 80;
  result.profiling_time = 8_s;
  result.optimum = optimum;
  result.profile = {
      .gpu = "Tesla V100",
      .gpus = 1,
      .batch_size = 1024,
      .complete = true,
      .measurements = {{.setting = optimum,
                        .steps = 5,
                        .step_time = 0.1_s,
                        .step_time_uncertainty = 1_ms,
                        .step_energy = {.value = 10_J, .uncertainty = 0.1_J, .systematic = {}, .method = {}},
                        .capped = 1.0}}};
  result.prediction = TrainingPrediction{.setting = optimum,
                                         .time = 12_s,
                                         .time_uncertainty = 0.1_s,
                                         .energy = energy,
                                         .cost = 1900_J,
                                         .cost_uncertainty = 20_J};
  test::expect_golden("train/result.json", to_json(result));
}

TEST(TrainingRecords, ComeBackAsTheyWereWritten) {
  test::expect_properties<TrainingResult>();
  test::expect_properties<TrainingEvent>();
}

TEST(ResultFile, UnknownValuesAreNull) {
  const std::string text = to_json(TrainingResult{});
  for (const char* const key :
       {"\"energy_j\": null", "\"cost_j\": null", "\"stopped_by\": null", "\"prediction\": null"}) {
    EXPECT_NE(text.find(key), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace zeus::train
