#include "cli/traffic_options.hpp"

#include "cli/input_file.hpp"
#include "command_line/options.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace zeus::cli {

namespace {

constexpr std::uint64_t usual_in_flight = 8;
constexpr std::uint64_t usual_places_at_a_rate = 256;
constexpr field::Rule few{.least = 1.0, .most = 4096.0};
constexpr field::Rule many{.least = 1.0, .most = 1e6};
constexpr std::int64_t seeds = 1'000'000'000;

}  // namespace

void TrafficOptions::declare(Options& options) {
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
}

void TrafficOptions::check() const {
  if (repeat_ && prompts_.empty()) {
    throw BadUsage{"--repeat-prompts needs a file of prompts", "name one by --prompts"};
  }
}

std::vector<serving::Prompt> TrafficOptions::prompts_of_file(serving::Route route, std::uint64_t most) const {
  const std::string lines = read_input_file(prompts_);
  return about_file(prompts_, [&] { return serving::read_prompts(lines, route, most); });
}

bool TrafficOptions::has_prompts(const serving::BenchResult& settings, std::uint64_t skipped) const {
  const std::uint64_t wanted = skipped + settings.requests;
  return prompts_.empty() || repeat_ || prompts_of_file(settings.route, wanted).size() >= wanted;
}

std::vector<serving::Prompt> TrafficOptions::prompts(const serving::BenchResult& settings,
                                                     std::uint64_t skipped) const {
  const std::uint64_t count = settings.requests;
  if (prompts_.empty()) {
    return serving::synthetic_prompts(count, prompt_words_, settings.seed);
  }
  const std::vector<serving::Prompt> all = prompts_of_file(settings.route, skipped + count);
  if (all.empty() || (all.size() < skipped + count && !repeat_)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} has {} prompts for {} requests", prompts_, all.size(), skipped + count),
                "give as many, or fewer --requests; --repeat-prompts uses them again, which a server that keeps the "
                "beginnings of prompts answers at less cost"};
  }
  std::vector<serving::Prompt> prompts;
  for (std::uint64_t i = 0; i < count; ++i) {
    prompts.push_back(all[(skipped + i) % all.size()]);
  }
  return prompts;
}

serving::BenchResult TrafficOptions::settings(const Context& context, const ModelServer& server) const {
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

serving::HttpPlan TrafficOptions::plan(const ModelServer& server, const serving::BenchResult& settings) const {
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

}  // namespace zeus::cli
