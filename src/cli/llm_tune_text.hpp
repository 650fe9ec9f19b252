// What `zeus llm tune` prints. Pure functions.
#pragma once

#include "serving/bench_result.hpp"
#include "serving/tuning.hpp"

#include <zeus/power.hpp>

#include <string>
#include <vector>

namespace zeus::cli {

// "250 W", "1200 MHz"
std::string setting_text(const PowerSetting& setting);
// What was tried, the recommendation, and the command that keeps it.
std::string llm_tune_text(const serving::Tuning& tuning, serving::Ended ended);
// On one line, without its end.
std::string llm_tune_json(const serving::Tuning& tuning, const std::vector<serving::LatencyBound>& bounds,
                          serving::Ended ended);

}  // namespace zeus::cli
