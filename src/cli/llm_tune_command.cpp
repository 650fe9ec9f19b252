#include "cli/llm_tune_command.hpp"

#include "base/program_folder.hpp"
#include "cli/llm_tune_text.hpp"
#include "cli/output_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "control/open_lease_book.hpp"
#include "measure/devices.hpp"
#include "serving/bench.hpp"
#include "serving/figures.hpp"
#include "serving/latency_bound.hpp"
#include "train/live_parts.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::cli {

namespace {

// The highest limit that every policy allows on its GPU.
Watts highest_allowed(const train::GpuGroup::Range& range) {
  Watts highest = range.highest;
  for (const std::vector<device::WattRange>& of_gpu : range.allowed) {
    highest = std::min(highest, std::ranges::max(of_gpu, {}, &device::WattRange::maximum).maximum);
  }
  return highest;
}

serving::SettingLimits limits_of(const train::GpuGroup::Range& range) {
  return {.lowest = range.lowest, .highest = highest_allowed(range), .clocks = range.clocks, .allowed = range.allowed};
}

// Whether the lessor was restarted, so that the setting did not hold all the time; its leases wait for that. Throws a
// conflict Error if another program has changed it, and the errors of GpuGroup::renew().
bool is_disturbed(train::GpuGroup& gpus) {
  // Before it is renewed, which takes the lease of a lessor that was restarted again without a word of it.
  const bool disturbed = !gpus.overruled().empty();
  if (const std::string why = disturbed ? gpus.overruled_still() : std::string{}; !why.empty()) {
    throw Error{ErrorKind::conflict, why, "end what else sets these GPUs, and try again"};
  }
  gpus.renew();
  return disturbed;
}

}  // namespace

void LlmTuneCommand::declare(Options& options) {
  options.example("zeus llm tune --url http://127.0.0.1:8000 --slo ttft=0.5s,itl=50ms@99 --requests 500",
                  "the setting of least energy at which 95 % of first tokens come within 0.5 s, and 99 % of the others "
                  "within 50 ms");
  options.footer(
      "Sets the GPUs of a server that goes on serving: its other clients feel it. However the command ends, the\n"
      "settings found at first are put back. Exits with 1 if no setting keeps the bounds, or if it was interrupted.");
  server_.declare(options);
  options.group("The bounds");
  options
      .add_option("--slo", bounds_,
                  "What latencies may be: ttft (to the first token), itl (between tokens), e2el (whole answers), each "
                  "with a time and @50, @90, @95 or @99, the share in percent (95 if it is left out)")
      .required()
      .value_name("NAME=TIME[@P],...");
  options.add_option("--steps", steps_, "How many settings to try below the highest limit, at most")
      .rule({.least = 1.0, .most = 100.0})
      .with_default();
  traffic_.declare(options);
  options.group("What it prints");
  options.add_option("--json", json_, "Write the result as one line of JSON to a file, or - for standard output")
      .path()
      .value_name("FILE|-");
}

serving::Ended LlmTuneCommand::measure(Context& context, const ModelServer& server, ModelBench& bench,
                                       train::GpuGroup& gpus, const std::vector<serving::LatencyBound>& bounds,
                                       serving::Tuning& tuning) const {
  WorkingLine line{context.err, context.clock, has_working_line(context.environment)};
  const serving::BenchResult usual = traffic_.settings(context, server);
  std::uint64_t asked = 0;
  std::optional<serving::BoundedTimes> times;
  for (std::uint64_t run = 0; const auto step = tuning.next(); ++run) {
    serving::BenchResult result = usual;
    result.requests *= step->effort;
    result.seed += run;
    if (!traffic_.has_prompts(result, asked)) {
      const std::string lack = fmt::format("{} has too few prompts left to measure {}", usual.prompts,
                                           setting_text(step->setting) + (step->effort > 1 ? " again" : ""));
      if (!step->is_extra) {
        throw Error{ErrorKind::invalid_argument, lack + ", as settings before it were measured again",
                    "give more prompts, or --repeat-prompts"};
      }
      line.print(fmt::format("zeus: {}: the search ends with what is known", lack));
      return serving::Ended::complete;
    }
    static_cast<void>(gpus.apply(step->setting));
    result.started = context.clock.wall();
    std::vector<serving::Prompt> prompts = traffic_.prompts(result, asked);
    asked += result.requests;
    bool disturbed = false;
    const serving::BenchRun measured = bench.run(traffic_.plan(server, result), std::move(prompts), result, line,
                                                 fmt::format("{}: ", setting_text(step->setting)),
                                                 [&gpus, &disturbed] { disturbed = is_disturbed(gpus) || disturbed; });
    if (result.ended != serving::Ended::complete) {
      return result.ended;
    }
    if (!disturbed) {
      if (step->effort == 1 || !times) {
        times.emplace(bounds);
      }
      times->add(measured.slices, measured.answers);
      tuning.add(std::move(result), times->found(), gpus.size());
    }
  }
  return serving::Ended::complete;
}

int LlmTuneCommand::run(Context& context) {
  traffic_.check();
  const std::vector<serving::LatencyBound> bounds = serving::read_bounds(bounds_);
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  const ModelServer server = server_.find_server(context);
  // Before anything is set: whether a file of prompts has enough for all steps, each measured once.
  const serving::BenchResult usual = traffic_.settings(context, server);
  static_cast<void>(traffic_.prompts(usual, steps_ * usual.requests));
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  ModelBench bench{context, inventory, server_.find_gpus(context, inventory, server)};
  control::LeaseBook book =
      control::open_lease_book(context.environment, context.files, program_folder(), inventory.gpus, context.clock,
                               control::Lends::nothing, context.lessor);
  train::GpuGroup gpus{train::session_gpus(bench.monitor(), measure::visible_devices(inventory).gpus,
                                           train::allowed_limits_of(context.lessor)),
                       [&book](std::string_view uuid, Seconds term) { return book.acquire(uuid, term); },
                       control::LeaseBook::usual_term};
  serving::Tuning tuning{limits_of(gpus.range()), static_cast<std::size_t>(steps_)};
  gpus.lease();
  serving::Ended ended = serving::Ended::interrupted;
  std::exception_ptr failed;
  try {
    ended = measure(context, server, bench, gpus, bounds, tuning);
  } catch (const Error&) {
    failed = std::current_exception();
  }
  gpus.release();
  if (failed && tuning.tried().empty()) {
    std::rethrow_exception(failed);
  }
  if (json) {
    json->write(llm_tune_json(tuning, bounds, ended) + '\n');
  }
  if (json_ != "-") {
    context.out << llm_tune_text(tuning, ended);
  }
  if (failed) {
    std::rethrow_exception(failed);
  }
  return ended == serving::Ended::complete && tuning.best() ? exit_ok : exit_failure;
}

}  // namespace zeus::cli
