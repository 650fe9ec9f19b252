#include "cli/llm_bench_command.hpp"

#include "base/signal_wait.hpp"
#include "cli/input_file.hpp"
#include "cli/llm_bench_text.hpp"
#include "cli/output_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"
#include "serving/bench.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <ostream>
#include <utility>

namespace zeus::cli {

namespace {

constexpr std::uint64_t usual_in_flight = 8;
constexpr std::uint64_t usual_places_at_a_rate = 256;
constexpr field::Rule few{.least = 1.0, .most = 4096.0};
constexpr field::Rule many{.least = 1.0, .most = 1e6};
constexpr std::int64_t seeds = 1'000'000'000;

std::vector<serving::BenchGpu> named_gpus(const device::Inventory& inventory, const std::vector<int>& numbers) {
  const std::vector<device::DiscoveredGpu> visible = inventory.visible();
  std::vector<serving::BenchGpu> gpus;
  for (const int number : numbers) {
    const device::GpuIdentity& identity = visible.at(static_cast<std::size_t>(number)).gpu->identity();
    gpus.push_back({.index = number, .uuid = identity.uuid, .name = identity.name});
  }
  return gpus;
}

}  // namespace

void LlmBenchCommand::declare(Options& options) {
  options.example("zeus llm bench --url http://127.0.0.1:8000 --in-flight 32 --requests 1000",
                  "with 32 requests in flight at any time");
  options.example("zeus llm bench --url http://127.0.0.1:8000 --rate 2.5 --json result.json",
                  "requests that come at random moments, 2.5 a second, and the result for a script");
  options.footer(
      "Exits with 0 if every request was sent and the run had a steady state. Otherwise it prints what is known, and\n"
      "exits with 1. An interrupt (Ctrl-C) ends the run; the figures until then are shown.");
  server_.declare(options);
  options.group("What is asked");
  options.add_option("--api", api_, "Which of the two interfaces").among({"chat", "completions"}).with_default();
  options
      .add_option("--prompts", prompts_,
                  R"(One JSON object a line, {"prompt":"..."} or {"messages":[...]}; without this they are made up)")
      .path();
  options.add_flag("--repeat-prompts", repeat_, "Use the prompts of the file again if there are too few");
  options.add_option("--prompt-words", prompt_words_, "Length of a prompt that is made up").rule(many).with_default();
  options.add_option("--max-tokens", max_tokens_, "The most tokens of an answer").rule(many).with_default();
  options
      .add_option("--ignore-eos", ignore_eos_,
                  "Let each answer reach its most tokens; auto does so if the server's program is known to be able to")
      .among({"auto", "always", "never"})
      .with_default();
  options.add_option("--seed", seed_, "Of prompts, moments and answers")
      .rule({.least = 0.0, .most = 1e15})
      .with_default("another one each time");
  options.group("How it is asked");
  options.add_option("--requests", requests_, "How many").rule(many).with_default();
  options.add_option("--in-flight", in_flight_, "How many at once; at a rate, at most")
      .rule(few)
      .with_default(fmt::format("{}; at a rate, {}", usual_in_flight, usual_places_at_a_rate));
  options
      .add_option("--rate", rate_,
                  "Requests a second, at random moments, however many are still in flight; without this, the next "
                  "request is sent when an answer has ended")
      .rule({.least = 1e-3, .most = 1e5})
      .value_name("PER_SECOND");
  options.add_option("--answer-time", answer_time_, "How long an answer may take before it counts as failed")
      .rule(field::above_zero)
      .with_default("600s");
  options.group("What it prints");
  options.add_option("--json", json_, "Write the result as one line of JSON to a file, or - for standard output")
      .path()
      .value_name("FILE|-");
}

void LlmBenchCommand::check_usage() const {
  if (repeat_ && prompts_.empty()) {
    throw BadUsage{"--repeat-prompts needs a file of prompts", "name one by --prompts"};
  }
}

std::vector<serving::Prompt> LlmBenchCommand::prompts(std::uint64_t seed) const {
  if (prompts_.empty()) {
    return serving::synthetic_prompts(requests_, prompt_words_, seed);
  }
  const std::string lines = read_input_file(prompts_);
  const auto route = field::named<serving::Route>(api_).value_or(serving::Route::chat);
  std::vector<serving::Prompt> prompts =
      about_file(prompts_, [&] { return serving::read_prompts(lines, route, requests_); });
  if (prompts.empty() || (prompts.size() < requests_ && !repeat_)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} has {} prompts for {} requests", prompts_, prompts.size(), requests_),
                "give as many, or fewer --requests; --repeat-prompts uses them again, which a server that keeps the "
                "beginnings of prompts answers at less cost"};
  }
  for (std::size_t i = 0; prompts.size() < requests_; ++i) {
    prompts.push_back(serving::Prompt{prompts[i]});
  }
  return prompts;
}

serving::BenchResult LlmBenchCommand::settings(const Context& context, const ModelServer& server) const {
  serving::BenchResult result;
  result.started = context.clock.wall();
  result.url = server.shown;
  result.model = server.model.id;
  result.server = server.model.owner;
  result.route = field::named<serving::Route>(api_).value_or(serving::Route::chat);
  result.prompts = prompts_.empty() ? fmt::format("{} words, made up", prompt_words_) : prompts_;
  result.requests = requests_;
  result.in_flight = in_flight_.value_or(rate_ ? usual_places_at_a_rate : usual_in_flight);
  result.rate = rate_;
  result.max_tokens = max_tokens_;
  result.seed = seed_.value_or(static_cast<std::uint64_t>(result.started.microseconds_since_epoch % seeds));
  result.ignore_eos = ignore_eos_ == "always" || (ignore_eos_ == "auto" && serving::has_ignore_eos(server.model));
  return result;
}

serving::HttpPlan LlmBenchCommand::plan(const ModelServer& server, const serving::BenchResult& settings) const {
  return {.server = server.plan,
          .prefix = server.prefix,
          .request = {.route = settings.route,
                      .model = settings.model,
                      .max_tokens = settings.max_tokens,
                      .seed = settings.seed,
                      .ignore_eos = settings.ignore_eos},
          .in_flight = settings.in_flight,
          .rate = settings.rate,
          .answer_time = answer_time_};
}

int LlmBenchCommand::run(Context& context) {
  check_usage();
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  const ModelServer server = server_.find_server(context);
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  const std::vector<int> numbers = server_.find_gpus(context, inventory, server);
  serving::BenchResult result = settings(context, server);
  result.gpus = named_gpus(inventory, numbers);
  std::vector<serving::Prompt> asked = prompts(result.seed);
  const auto source = std::make_shared<measure::SamplerSource>(measure::visible_devices(inventory), context.clock);
  Monitor monitor = measure::monitor_of(source, {.gpus = numbers, .cpus = std::vector<int>{}});
  const Monitor::Listening listening = monitor.listen();
  const SignalWait signals{SIGINT, SIGTERM, SIGHUP};
  {
    WorkingLine line{context.err, context.clock, has_working_line(context.environment)};
    serving::HttpTraffic traffic{plan(server, result), std::move(asked), context.clock};
    put_figures(serving::run_bench(traffic, monitor, context.clock,
                                   [&](Instant until) {
                                     const auto progress = traffic.progress();
                                     line.show(fmt::format("{} of {} answers, {} in flight", progress.ended, requests_,
                                                           progress.sent - progress.ended));
                                     return !signals.wait_for(until - context.clock.now());
                                   }),
                result);
  }
  if (json) {
    json->write(serving::to_json(result) + '\n');
  }
  if (json_ != "-") {
    context.out << llm_bench_text(result);
  }
  return result.ended == serving::Ended::complete && result.steady.why_not_steady.empty() ? exit_ok : exit_failure;
}

}  // namespace zeus::cli
