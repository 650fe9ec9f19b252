#include "records/measured_iteration.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::records {
namespace {

const MeasuredIteration iteration{.ranks = 2,
                                  .iterations = 20,
                                  .time = 1.5_s,
                                  .time_uncertainty = 0.25_s,
                                  .energy = 600_J,
                                  .energy_uncertainty = 3_J,
                                  .claimed_time = 1.4_s,
                                  .claimed_energy = {},
                                  .computations = {{.rank = 1,
                                                    .stage = 1,
                                                    .microbatch = 0,
                                                    .instruction = "forward",
                                                    .start = 0.5_s,
                                                    .duration = 0.25_s,
                                                    .frequency = 1410_MHz,
                                                    .power = 300_W}}};

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = to_json(iteration);
  return text.replace(text.find(from), from.size(), to);
}

TEST(MeasuredIteration, HasTheFormThatTrainingsWrite) {
  EXPECT_EQ(to_json(iteration),
            R"({"version":1,"ranks":2,"iterations":20,"time_s":1.5,"time_uncertainty_s":0.25,"energy_j":600.0,)"
            R"("energy_uncertainty_j":3.0,"claimed_time_s":1.4,"claimed_energy_j":null,"computations":[{"rank":1,)"
            R"("stage":1,"microbatch":0,"instruction":"forward","start_s":0.5,"duration_s":0.25,)"
            R"("frequency_mhz":1410.0,"power_w":300.0}]})");
  EXPECT_EQ(measured_iteration_from_json(to_json(iteration)), iteration);
}

TEST(MeasuredIteration, RefusesWhatMakesNoSense) {
  for (const std::string& text :
       {std::string{}, std::string{"[]"}, replaced("\"rank\":1", "\"rank\":2"), replaced("600.0", "-1"),
        replaced("600.0", "NaN"), replaced("\"duration_s\":0.25", "\"duration_s\":null"),
        replaced("\"version\":1", "\"version\":2"), replaced("\"power_w\":300.0", "\"watts\":300.0")}) {
    EXPECT_THROW(static_cast<void>(measured_iteration_from_json(text)), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::records
