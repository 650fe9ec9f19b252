#include "serving/bench_result.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

namespace zeus::serving {

std::string to_json(const BenchResult& result) {
  return records::json_line(result);
}

BenchResult bench_result_from_json(std::string_view text) {
  return records::record_from_json<BenchResult>(text,
                                                {.refusal = "this is not a result of zeus llm bench",
                                                 .advice = "give a file that `zeus llm bench --json FILE` has written",
                                                 .newer = true});
}

}  // namespace zeus::serving
