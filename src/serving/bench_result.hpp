// What `zeus llm bench` finds, as it is written to files and read again. docs/llm.md says what each figure counts.
// Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"
#include "records/wall_time_json.hpp"
#include "serving/prompts.hpp"

#include <zeus/energy.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

constexpr auto names_of(Route /*route*/) {
  return std::array<field::Name<Route>, 2>{{{Route::chat, "chat"}, {Route::completions, "completions"}}};
}

enum class Ended {
  complete,
  interrupted,  // by the user
  gave_up,      // too many requests in a row have failed
};

constexpr auto names_of(Ended /*ended*/) {
  return std::array<field::Name<Ended>, 3>{
      {{Ended::complete, "complete"}, {Ended::interrupted, "interrupted"}, {Ended::gave_up, "gave_up"}}};
}

struct BenchGpu {
  int index = 0;
  std::string uuid = {};
  std::string name = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("index", self.index, field::from_zero);
    fields("uuid", self.uuid);
    fields("name", self.name);
  }
  friend bool operator==(const BenchGpu&, const BenchGpu&) = default;
};

struct CountOf {
  std::string what = {};
  std::uint64_t count = 0;
  std::string example = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("what", self.what);
    fields("count", self.count, field::count);
    fields("example", self.example, field::may_lack({}));
  }
  friend bool operator==(const CountOf&, const CountOf&) = default;
};

// Of the whole run.
struct AnswerCounts {
  std::uint64_t sent = 0;
  std::uint64_t whole = 0;
  std::uint64_t failed = 0;
  std::uint64_t unfinished = 0;  // when the run was ended
  std::uint64_t late = 0;        // at a rate: sent after they were due, since all places were taken
  std::optional<std::uint64_t> output_tokens = {};
  std::optional<std::uint64_t> prompt_tokens = {};
  std::vector<CountOf> finish_reasons = {};
  std::vector<CountOf> failures = {};
  std::string why_no_tokens = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("sent", self.sent, field::count);
    fields("whole", self.whole, field::count);
    fields("failed", self.failed, field::count);
    fields("unfinished", self.unfinished, field::count);
    fields("late", self.late, field::count);
    fields("output_tokens", self.output_tokens, field::because(self.why_no_tokens));
    fields("prompt_tokens", self.prompt_tokens, field::because(self.why_no_tokens));
    fields("finish_reasons", self.finish_reasons);
    fields("failures", self.failures);
  }
  friend bool operator==(const AnswerCounts&, const AnswerCounts&) = default;
};

// A number with the half-width of its 95 % interval.
struct Figure {
  double value = 0;
  double uncertainty = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("value", self.value, field::from_zero);
    fields("uncertainty", self.uncertainty, field::from_zero);
  }
  friend bool operator==(const Figure&, const Figure&) = default;
};

// A percentile of times with its 95 % interval; an end is unknown if too few values lie beyond it.
struct TimePercentile {
  Seconds value = {};
  std::optional<Seconds> low = {};
  std::optional<Seconds> high = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule time = field::without_unit(field::duration);
    field::Rule end = time;
    end.reason = "too few answers";
    fields("value", self.value, time);
    fields("low", self.low, end);
    fields("high", self.high, end);
  }
  friend bool operator==(const TimePercentile&, const TimePercentile&) = default;
};

struct Times {
  Figure mean = {};
  TimePercentile p50 = {};
  TimePercentile p90 = {};
  TimePercentile p95 = {};
  TimePercentile p99 = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("mean", self.mean);
    fields("p50", self.p50);
    fields("p90", self.p90);
    fields("p95", self.p95);
    fields("p99", self.p99);
  }
  friend bool operator==(const Times&, const Times&) = default;
};

// The steady part of a run. Without one, or without energy or token counts, figures are unknown, and each has its
// reason.
struct SteadyFigures {
  std::optional<Seconds> begin = {};  // since the run's
  std::optional<Seconds> time = {};
  std::optional<Energy> energy = {};
  std::optional<double> output_tokens = {};
  std::optional<double> answers = {};
  std::optional<Energy> energy_per_output_token = {};
  std::optional<Energy> energy_per_answer = {};
  std::optional<Figure> power = {};
  std::optional<Figure> output_tokens_per_second = {};
  std::optional<Figure> answers_per_second = {};
  std::optional<Figure> in_flight = {};
  std::optional<Figure> prompt_tokens_per_answer = {};
  std::optional<Figure> output_tokens_per_answer = {};
  std::optional<Figure> reasoning_tokens_per_answer = {};
  std::optional<Times> time_to_first_token = {};
  std::optional<Times> time_between_tokens = {};
  std::optional<Times> time_per_answer = {};
  std::string why_not_steady = {};
  std::string why_no_energy = {};
  std::string why_no_tokens = {};
  std::string why_no_energy_per_token = {};
  std::string why_no_energy_per_answer = {};
  std::string why_no_prompt_tokens = {};
  std::string why_no_reasoning = {};
  std::string why_no_first = {};
  std::string why_no_between = {};
  std::string why_no_whole = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("energy_per_output_token", self.energy_per_output_token, field::because(self.why_no_energy_per_token));
    fields("energy_per_answer", self.energy_per_answer, field::because(self.why_no_energy_per_answer));
    fields("power_w", self.power, field::because(self.why_no_energy));
    fields("output_tokens_per_s", self.output_tokens_per_second, field::because(self.why_no_tokens));
    fields("answers_per_s", self.answers_per_second, field::because(self.why_not_steady));
    fields("mean_in_flight", self.in_flight, field::because(self.why_not_steady));
    fields("prompt_tokens_per_answer", self.prompt_tokens_per_answer, field::because(self.why_no_prompt_tokens));
    fields("output_tokens_per_answer", self.output_tokens_per_answer, field::because(self.why_no_prompt_tokens));
    fields("reasoning_tokens_per_answer", self.reasoning_tokens_per_answer, field::because(self.why_no_reasoning));
    fields("time_to_first_token_s", self.time_to_first_token, field::because(self.why_no_first));
    fields("time_between_tokens_s", self.time_between_tokens, field::because(self.why_no_between));
    fields("time_per_answer_s", self.time_per_answer, field::because(self.why_no_whole));
    fields("steady_begin", self.begin, field::because(self.why_not_steady));
    fields("steady_time", self.time, field::because(self.why_not_steady));
    fields("steady_energy", self.energy, field::because(self.why_no_energy));
    fields("steady_output_tokens", self.output_tokens, field::because(self.why_no_tokens));
    fields("steady_answers", self.answers, field::because(self.why_not_steady));
  }
  friend bool operator==(const SteadyFigures&, const SteadyFigures&) = default;
};

struct BenchResult {
  WallTime started = {};
  Seconds start_monotonic = {};  // on the monotonic clock of this machine
  std::string url = {};
  std::string model = {};
  std::string server = {};  // what it calls itself as the model's owner
  Route route = Route::chat;
  std::string prompts = {};
  std::uint64_t requests = 0;
  std::uint64_t in_flight = 0;
  std::optional<double> rate = {};
  std::uint64_t max_tokens = 0;
  std::uint64_t seed = 0;
  bool ignore_eos = false;
  Ended ended = Ended::complete;
  Seconds time = {};
  std::vector<BenchGpu> gpus = {};
  AnswerCounts answers = {};
  SteadyFigures steady = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1);
    fields("started", self.started);
    fields("start_monotonic", self.start_monotonic, field::duration);
    fields("url", self.url);
    fields("model", self.model);
    fields("server", self.server);
    fields("route", self.route);
    fields("prompts", self.prompts);
    fields("requests", self.requests, field::count);
    fields("in_flight", self.in_flight, field::count);
    fields("rate_per_s", self.rate, field::because("a closed loop"));
    fields("max_tokens", self.max_tokens, field::count);
    fields("seed", self.seed);
    fields("ignore_eos", self.ignore_eos);
    fields("ended", self.ended);
    fields("time", self.time, field::duration);
    fields("gpus", self.gpus);
    fields("answers", self.answers);
    fields("steady", self.steady, field::beside);
  }
  friend bool operator==(const BenchResult&, const BenchResult&) = default;
};

// On one line, without its end.
std::string to_json(const BenchResult& result);
// Throws a corrupt_data Error. Keys of a newer version are skipped.
BenchResult bench_result_from_json(std::string_view text);

}  // namespace zeus::serving
