// Any text is a graph of computations, which is planned or refused as impossible; or it is refused with a corrupt_data
// Error.

#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "trace/dag_file.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

namespace pipeline = zeus::optimize::pipeline;

// An accepted graph must be planned: in time, and no better than the frontier.
void plan_pipeline(const zeus::records::ComputationGraph& graph) {
  constexpr zeus::Watts blocking{70};
  const pipeline::Frontier frontier{graph, blocking};
  const pipeline::FrequencyChooser chooser{graph, blocking};
  const zeus::Seconds time = (frontier.fastest() + frontier.slowest()) / 2.0;
  const pipeline::FrequencyChoice choice = chooser.choose(frontier, time, pipeline::Effort::lookup);
  constexpr zeus::Seconds shortest{1e-15};  // a shorter time counts as none
  if (choice.options.size() != graph.computations.size() || choice.iteration_time > time * (1.0 + 1e-9) + shortest) {
    std::abort();
  }
}

}  // namespace

extern "C" int fuzz_dag(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const auto graph = zeus::trace::parse_dag("fuzz.dag", text);
    try {
      plan_pipeline(graph);
    } catch (const zeus::Error& error) {
      if (error.kind() != zeus::ErrorKind::invalid_argument) {
        std::abort();
      }
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
  return 0;
}
