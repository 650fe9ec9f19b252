#include "cli/llm_bench_text.hpp"

#include "base/amount_text.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace zeus::cli {

namespace {

// An amount, what it is of, and a remark.
std::string amount_line(const std::string& amount, const std::string& what) {
  return fmt::format("{:>24}   {}\n", amount, what);
}

std::string energy_line(const std::optional<Energy>& energy, std::string_view what, const std::string& why) {
  return energy ? amount_line(to_text(energy->value, energy->uncertainty), fmt::format("per {}", what))
                : amount_line("unknown", fmt::format("joules per {}: {}", what, why));
}

std::string figure_line(const std::optional<serving::Figure>& figure, std::string_view unit, const std::string& what,
                        const std::string& why) {
  return figure ? amount_line(with_interval(figure->value, figure->uncertainty, unit), what)
                : amount_line("unknown", fmt::format("{}: {}", what, why));
}

std::string gpus_text(const serving::BenchResult& result) {
  std::string text;
  for (const serving::BenchGpu& gpu : result.gpus) {
    text += fmt::format("{}gpu {} ({})", text.empty() ? "" : ", ", gpu.index, gpu.name);
  }
  return text;
}

std::string load_text(const serving::BenchResult& result) {
  return result.rate ? fmt::format("{:g} requests a second", *result.rate)
                     : fmt::format("{} requests in flight", result.in_flight);
}

// "12.3 [12.1 to 12.6]", in milliseconds.
std::string percentile_text(const serving::TimePercentile& time) {
  const auto end = [](const std::optional<Seconds>& seconds) {
    return seconds ? fmt::format("{:.4g}", Milliseconds{*seconds}.value()) : std::string{"?"};
  };
  return fmt::format("{:.4g} [{}, {}]", Milliseconds{time.value}.value(), end(time.low), end(time.high));
}

std::string times_line(std::string_view what, const std::optional<serving::Times>& times, const std::string& why) {
  if (!times) {
    return fmt::format("   {:<16} unknown: {}\n", what, why);
  }
  return fmt::format("   {:<16} {:<22} {:<22} {:<22} {}\n", what, percentile_text(times->p50),
                     percentile_text(times->p90), percentile_text(times->p95), percentile_text(times->p99));
}

std::string failures_text(const serving::AnswerCounts& counts) {
  std::string text;
  for (const serving::CountOf& failure : counts.failures) {
    text += fmt::format("   {} failed: {}{}{}\n", failure.count, failure.what, failure.example.empty() ? "" : ", ",
                        failure.example);
  }
  if (counts.unfinished > 0) {
    text += fmt::format("   {} were unfinished when the run was ended\n", counts.unfinished);
  }
  if (counts.late > 0) {
    text +=
        fmt::format("   {} were sent late, because every place in flight was taken; raise --in-flight\n", counts.late);
  }
  return text;
}

std::string ended_text(const serving::BenchResult& result) {
  switch (result.ended) {
    case serving::Ended::complete:
      return "";
    case serving::Ended::interrupted:
      return fmt::format("   interrupted after {} of {} requests: these are the figures until then\n",
                         result.answers.sent, result.requests);
    case serving::Ended::gave_up:
      break;
  }
  return fmt::format("   given up after {} of {} requests, because too many in a row failed\n", result.answers.sent,
                     result.requests);
}

std::string figures_text(const serving::BenchResult& result) {
  const serving::SteadyFigures& steady = result.steady;
  if (!steady.why_not_steady.empty()) {
    return fmt::format("   no figures: {}\n", steady.why_not_steady);
  }
  std::string text = energy_line(steady.energy_per_output_token, "output token", steady.why_no_energy_per_token);
  text += energy_line(steady.energy_per_answer, "answer", steady.why_no_energy_per_answer);
  text += figure_line(steady.power, "W", gpus_text(result), steady.why_no_energy);
  text += figure_line(steady.output_tokens_per_second, "/s", "output tokens", steady.why_no_tokens);
  text += figure_line(steady.answers_per_second, "/s", "answers", steady.why_not_steady);
  text += figure_line(steady.output_tokens_per_answer, "", "output tokens in an answer", steady.why_no_prompt_tokens);
  text += figure_line(steady.prompt_tokens_per_answer, "", "prompt tokens of an answer", steady.why_no_prompt_tokens);
  text += fmt::format("\n   {:<16} {:<22} {:<22} {:<22} {}\n", "times in ms", "50 %", "90 %", "95 %", "99 %");
  text += times_line("to first token", steady.time_to_first_token, steady.why_no_first);
  text += times_line("between tokens", steady.time_between_tokens, steady.why_no_between);
  text += times_line("whole answer", steady.time_per_answer, steady.why_no_whole);
  return text;
}

}  // namespace

std::string llm_bench_text(const serving::BenchResult& result) {
  std::string text = fmt::format("\n {} at {}, {}", in_quotes(result.model), result.url, load_text(result));
  if (result.steady.time) {
    text += fmt::format(", steady for {} of {}", to_text(*result.steady.time), to_text(result.time));
  }
  text += ":\n\n" + figures_text(result) + "\n";
  const std::string remarks = failures_text(result.answers) + ended_text(result);
  return remarks.empty() ? text : text + remarks + "\n";
}

}  // namespace zeus::cli
