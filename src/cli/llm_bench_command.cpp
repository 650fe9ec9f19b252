#include "cli/llm_bench_command.hpp"

#include "base/file_tree.hpp"
#include "cli/llm_bench_text.hpp"
#include "cli/model_bench.hpp"
#include "cli/output_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "device/inventory.hpp"
#include "serving/bench.hpp"
#include "serving/ml_energy_files.hpp"

#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace zeus::cli {

void LlmBenchCommand::declare(Options& options) {
  options.example("zeus llm bench --url http://127.0.0.1:8000 --in-flight 32 --requests 1000",
                  "with 32 requests in flight at any time");
  options.example("zeus llm bench --url http://127.0.0.1:8000 --rate 2.5 --json result.json",
                  "requests that come at random moments, 2.5 a second, and the result for a script");
  options.footer(
      "Exits with 0 if every request was sent and the run had a steady state. Otherwise it prints what is known, and\n"
      "exits with 1. An interrupt (Ctrl-C) ends the run; the figures until then are shown.");
  server_.declare(options);
  traffic_.declare(options);
  options.group("What it prints");
  options.add_option("--json", json_, "Write the result as one line of JSON to a file, or - for standard output")
      .path()
      .value_name("FILE|-");
  command_line::Option folder =
      options
          .add_option("--ml-energy", ml_energy_,
                      "Also write the run below this folder, in the layout of the ML.ENERGY benchmark's results")
          .path()
          .value_name("DIR");
  command_line::Option parameters =
      options.add_option("--parameters", parameters_, "How many billions of them the model has, for that layout")
          .rule(field::above_zero)
          .value_name("BILLIONS");
  folder.goes_with(parameters);
}

int LlmBenchCommand::run(Context& context) {
  traffic_.check();
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  const ModelServer server = server_.find_server(context);
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  const std::vector<int> gpus = server_.find_gpus(context, inventory, server);
  serving::BenchResult result = traffic_.settings(context, server);
  std::vector<serving::Prompt> prompts = traffic_.prompts(result);
  ModelBench bench{context, inventory, gpus};
  result.gpus = bench.gpus();
  if (ml_energy_) {
    // Seen now whether it can be written, before the run.
    const OutputFile trial{fmt::format("{}/{}/results.json", *ml_energy_, serving::ml_energy_folder(result)),
                           context.out};
  }
  const serving::BenchRun run = [&] {
    WorkingLine line{context.err, context.clock, has_working_line(context.environment)};
    return bench.run(traffic_.plan(server, result), std::move(prompts), result, line);
  }();
  if (json) {
    json->write(serving::to_json(result) + '\n');
  }
  if (json_ != "-") {
    context.out << llm_bench_text(result);
  }
  if (ml_energy_) {
    serving::write_ml_energy_files(FileTree{*ml_energy_}, run, result, *parameters_);
  }
  return result.ended == serving::Ended::complete && result.steady.why_not_steady.empty() ? exit_ok : exit_failure;
}

}  // namespace zeus::cli
