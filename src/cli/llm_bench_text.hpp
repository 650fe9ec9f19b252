// What `zeus llm bench` prints for a person. A pure function.
#pragma once

#include "serving/bench_result.hpp"

#include <string>

namespace zeus::cli {

std::string llm_bench_text(const serving::BenchResult& result);

}  // namespace zeus::cli
