#include "records/measured_iteration.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

namespace zeus::records {

namespace {

constexpr JsonForm iteration_form{.refusal = "this is not a measured iteration of a pipeline",
                                  .advice = "name a file that a training with zeus.integrations.pipelining wrote"};

}  // namespace

std::string to_json(const MeasuredIteration& iteration) {
  return json_line(iteration);
}

MeasuredIteration measured_iteration_from_json(std::string_view text) {
  MeasuredIteration iteration = record_from_json<MeasuredIteration>(text, iteration_form);
  for (const MeasuredComputation& computation : iteration.computations) {
    if (computation.rank >= iteration.ranks) {
      JsonPlace{iteration_form}.refuse_as(
          fmt::format("it has a computation of rank {}, and {} ranks", computation.rank, iteration.ranks));
    }
  }
  return iteration;
}

}  // namespace zeus::records
