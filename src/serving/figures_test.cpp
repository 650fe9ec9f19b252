#include "serving/figures.hpp"

#include "serving/steady_window.hpp"
#include "serving/traffic.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {
namespace {

constexpr Instant start{1'000'000'000'000};

Instant at(double seconds) {
  return start + Seconds{seconds};
}

// Slices of a quarter of a second at this power.
std::vector<Slice> slices_at(double watts, double seconds) {
  std::vector<Slice> slices;
  for (int i = 0; i < static_cast<int>(seconds * 4); ++i) {
    Energy energy;
    energy.value = Joules{watts / 4};
    energy.set_uncertainty(Joules{0.01}, Joules{0});
    slices.push_back({.begin = at(i * 0.25), .end = at(i * 0.25 + 0.25), .energy = {.energy = energy}});
  }
  return slices;
}

// One that has `pieces` at equal distances, of `tokens` in all.
Answer answer_of(double from, double to, int pieces, std::uint64_t tokens) {
  Answer answer{.due = at(from), .sent = at(from), .ended = at(to)};
  for (int i = 1; i <= pieces; ++i) {
    answer.arrivals.push_back(at(from + (to - from) * i / pieces));
  }
  answer.usage = Usage{.prompt_tokens = 10, .output_tokens = tokens};
  answer.finish_reason = "length";
  return answer;
}

// `places` at once, each answer one second long and a bit off from its neighbour.
std::vector<Answer> closed_loop(int places, double seconds, std::uint64_t tokens = 20) {
  std::vector<Answer> answers;
  for (int i = 0; i < static_cast<int>(seconds); ++i) {
    for (int place = 0; place < places; ++place) {
      const double from = i + 0.013 * place;
      answers.push_back(answer_of(from, from + 1, 10, tokens));
    }
  }
  return answers;
}

TEST(SteadyFigures, AreWhatWasTakenForWhatWasDelivered) {
  const SteadyFigures figures = steady_figures(slices_at(200, 30), closed_loop(8, 30), start);
  ASSERT_TRUE(figures.energy_per_output_token) << figures.why_not_steady;
  EXPECT_NEAR(figures.energy_per_output_token->value.value(), 200.0 / 160, 0.02);
  EXPECT_NEAR(figures.energy_per_answer->value.value(), 200.0 / 8, 0.4);
  EXPECT_NEAR(figures.output_tokens_per_second->value, 160, 2);
  EXPECT_NEAR(figures.power->value, 200, 1e-6);
  EXPECT_NEAR(figures.in_flight->value, 8, 0.1);
  EXPECT_DOUBLE_EQ(figures.output_tokens_per_answer->value, 20);
  EXPECT_NEAR(figures.time_per_answer->p99.value.value(), 1.0, 1e-6);
  EXPECT_NEAR(figures.time_between_tokens->p50.value.value(), 0.1, 1e-6);
  EXPECT_NEAR(figures.time_to_first_token->p50.value.value(), 0.1, 1e-6);
}

TEST(SteadyFigures, BeginWhenEveryFirstAnswerHasEnded) {
  std::vector<Answer> answers = closed_loop(8, 30);
  answers.front() = answer_of(0, 5.1, 10, 20);
  const SteadyFigures figures = steady_figures(slices_at(200, 30), answers, start);
  ASSERT_TRUE(figures.begin) << figures.why_not_steady;
  EXPECT_GE(figures.begin->value(), 5.1);
  EXPECT_LE(figures.begin->value() + figures.time->value(), 29.2);
}

TEST(SteadyFigures, AreNoneForAShortRun) {
  const SteadyFigures figures = steady_figures(slices_at(200, 4), closed_loop(8, 4), start);
  EXPECT_FALSE(figures.energy_per_output_token);
  EXPECT_NE(
      figures.why_not_steady.find("too short: from the end of the first answers to the last request it has 1.8 s, "
                                  "and 5.0 s are needed; send more requests (--requests)"),
      std::string::npos)
      << figures.why_not_steady;
  EXPECT_EQ(figures.why_no_energy_per_token, figures.why_not_steady);
}

TEST(SteadyFigures, AreNoneWhilePowerStillRises) {
  std::vector<Slice> slices = slices_at(200, 30);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i].energy.energy->value += Joules{0.5 * static_cast<double>(i)};
  }
  const SteadyFigures figures = steady_figures(slices, closed_loop(8, 30), start);
  EXPECT_FALSE(figures.power);
  EXPECT_NE(figures.why_not_steady.find("never became steady"), std::string::npos) << figures.why_not_steady;
  EXPECT_NE(figures.why_not_steady.find("watts"), std::string::npos) << figures.why_not_steady;
}

TEST(SteadyFigures, LeaveOutABeginningThatDiffers) {
  std::vector<Slice> slices = slices_at(200, 40);
  for (std::size_t i = 0; i < 30; ++i) {
    slices[i].energy.energy->value = Joules{20};
  }
  const SteadyFigures figures = steady_figures(slices, closed_loop(8, 40), start);
  ASSERT_TRUE(figures.power) << figures.why_not_steady;
  EXPECT_GE(figures.begin->value(), 5.0);
  EXPECT_NEAR(figures.power->value, 200, 5);
}

TEST(SteadyFigures, OfALostGpuHaveTimesButNoEnergy) {
  std::vector<Slice> slices = slices_at(200, 30);
  slices[60].energy = {.energy = {}, .reason = "the GPU is lost"};
  const SteadyFigures figures = steady_figures(slices, closed_loop(8, 30), start);
  EXPECT_FALSE(figures.energy_per_output_token);
  EXPECT_EQ(figures.why_no_energy_per_token, "the GPU is lost");
  EXPECT_TRUE(figures.time_per_answer);
  EXPECT_TRUE(figures.output_tokens_per_second);
}

TEST(SteadyFigures, TokensOfAFailedAnswerCountAsFarAsTheyCame) {
  std::vector<Answer> answers = closed_loop(8, 30);
  const SteadyFigures all = steady_figures(slices_at(200, 30), answers, start);
  for (std::size_t i = 0; i < answers.size(); i += 10) {
    answers[i].failure = "broke off";
    answers[i].usage.reset();
    answers[i].arrivals.resize(5);
  }
  const SteadyFigures some = steady_figures(slices_at(200, 30), answers, start);
  ASSERT_TRUE(some.energy_per_output_token) << some.why_not_steady;
  EXPECT_NEAR(some.energy_per_output_token->value / all.energy_per_output_token->value, 1 / 0.95, 0.01);
  EXPECT_NEAR(some.energy_per_answer->value / all.energy_per_answer->value, 1 / 0.9, 0.02);
}

TEST(SteadyFigures, TokensThatAreNotStreamedCountWhenTheirAnswerEnds) {
  std::vector<Answer> answers = closed_loop(8, 30);
  const SteadyFigures all = steady_figures(slices_at(200, 30), answers, start);
  for (std::size_t i = 0; i + 5 < answers.size(); i += 10) {
    answers[i].arrivals.clear();
    // Its pieces are as long as those that came.
    answers[i + 5].failure = "broke off";
    answers[i + 5].usage.reset();
    answers[i + 5].arrivals.resize(5);
  }
  const SteadyFigures some = steady_figures(slices_at(200, 30), answers, start);
  ASSERT_TRUE(some.energy_per_output_token) << some.why_not_steady;
  EXPECT_NEAR(some.energy_per_output_token->value / all.energy_per_output_token->value, 1 / 0.95, 0.01);
}

TEST(SteadyFigures, AnAnswerAcrossAnEdgeCountsInParts) {
  // One long answer a time: most of the window's edges cut one.
  std::vector<Answer> answers;
  for (int i = 0; i < 20; ++i) {
    answers.push_back(answer_of(i * 2.7, i * 2.7 + 2.7, 27, 54));
  }
  const SteadyFigures figures = steady_figures(slices_at(100, 54), answers, start);
  ASSERT_TRUE(figures.energy_per_answer) << figures.why_not_steady;
  EXPECT_NEAR(figures.energy_per_answer->value.value(), 270, 10);
}

std::vector<BoundedTime> bounded_times(const std::vector<Slice>& slices, const std::vector<Answer>& answers,
                                       std::string_view bounds) {
  BoundedTimes times{read_bounds(bounds)};
  times.add(slices, answers);
  return times.found();
}

// Each of these bounds' times in a closed loop of which every twentieth request has failed.
std::vector<BoundedTime> times_with_failures(std::string_view bounds) {
  std::vector<Answer> answers = closed_loop(8, 60);
  for (std::size_t i = 0; i < answers.size(); i += 20) {
    answers[i].failure = "broke off";
    answers[i].usage.reset();
    answers[i].arrivals.resize(4);
    answers[i].ended = answers[i].sent + Seconds{0.5};
  }
  return bounded_times(slices_at(200, 60), answers, bounds);
}

TEST(BoundedTimes, AreThePercentilesOfTheFiguresIfNoRequestFails) {
  const std::vector<Slice> slices = slices_at(200, 30);
  const std::vector<Answer> answers = closed_loop(8, 30);
  const SteadyFigures figures = steady_figures(slices, answers, start);
  ASSERT_TRUE(figures.time_per_answer) << figures.why_not_steady;
  const std::vector<BoundedTime> times = bounded_times(slices, answers, "ttft=1s@50,itl=1s@90,e2el=1s@99");
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].found, figures.time_to_first_token->p50);
  EXPECT_EQ(times[1].found, figures.time_between_tokens->p90);
  EXPECT_EQ(times[2].found, figures.time_per_answer->p99);
}

TEST(BoundedTimes, AFailedRequestIsOneThatNeverEnds) {
  // 5 % of the requests have failed.
  for (const BoundedTime& time : times_with_failures("ttft=1s@90,e2el=2s@90,itl=1s@90")) {
    ASSERT_TRUE(time.found) << to_text(time.bound);
    EXPECT_LE(time.found->value, time.bound.most) << to_text(time.bound);
    EXPECT_LE(time.found->high, time.bound.most) << to_text(time.bound);
  }
  for (const BoundedTime& time : times_with_failures("ttft=1s@99,e2el=2s@99,itl=1s@99")) {
    ASSERT_TRUE(time.found) << to_text(time.bound);
    EXPECT_EQ(time.found->value, never) << to_text(time.bound);
  }
}

TEST(BoundedTimes, OfSeveralRunsAreKnownMoreExactly) {
  const std::vector<Slice> slices = slices_at(200, 60);
  std::vector<Answer> answers = closed_loop(8, 60);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].arrivals.front() = answers[i].due + Seconds{0.001 * static_cast<double>(i * 37 % 100)};
  }
  BoundedTimes times{read_bounds("ttft=1s@90")};
  times.add(slices, answers);
  const TimePercentile one = times.found().front().found.value();
  times.add(slices_at(200, 4), closed_loop(8, 4));  // has no steady part
  EXPECT_EQ(times.found().front().found, one);
  for (int run = 0; run < 3; ++run) {
    times.add(slices, answers);
  }
  const TimePercentile four = times.found().front().found.value();
  EXPECT_NEAR(four.value.value(), one.value.value(), 0.002);
  EXPECT_LT(four.high.value() - four.low.value(), one.high.value() - one.low.value());
}

TEST(BoundedTimes, AreNoneWithoutASteadyPart) {
  EXPECT_FALSE(bounded_times(slices_at(200, 4), closed_loop(8, 4), "ttft=1s").front().found);
}

TEST(SteadyFigures, ARefusedRequestIsNotTheFirstAnswer) {
  std::vector<Answer> answers = closed_loop(8, 30);
  answers.front() = answer_of(0, 5.1, 10, 20);
  answers[1].due = answers[1].sent = answers[1].ended = start - Seconds{0.001};
  answers[1].failure = "status 429";
  answers[1].arrivals.clear();
  const SteadyFigures figures = steady_figures(slices_at(200, 30), answers, start);
  ASSERT_TRUE(figures.begin) << figures.why_not_steady;
  EXPECT_GE(figures.begin->value(), 5.1);
}

TEST(AnswerCounts, NoFailureIsDropped) {
  std::vector<Answer> answers = closed_loop(2, 3);
  answers[0].failure = "status 429";
  answers[0].detail = "slow down";
  answers[1].failure = "status 429";
  answers[2].failure = unfinished;
  answers[3].sent = answers[3].due + Seconds{1};
  const AnswerCounts counts = answer_counts(answers, true);
  EXPECT_EQ(counts.sent, 6U);
  EXPECT_EQ(counts.whole, 3U);
  EXPECT_EQ(counts.failed, 2U);
  EXPECT_EQ(counts.unfinished, 1U);
  EXPECT_EQ(counts.late, 1U);
  EXPECT_EQ(answer_counts(answers, false).late, 0U);
  EXPECT_EQ(counts.failures, (std::vector<CountOf>{{"status 429", 2, "slow down"}}));
  EXPECT_EQ(counts.finish_reasons, (std::vector<CountOf>{{"length", 3, ""}}));
}

TEST(AnswerCounts, PromptsThatTheServerDoesNotCountAreUnknown) {
  std::vector<Answer> answers = closed_loop(8, 30);
  EXPECT_TRUE(answer_counts(answers, false).prompt_tokens);
  for (Answer& answer : answers) {
    answer.usage->prompt_tokens.reset();
  }
  const AnswerCounts counts = answer_counts(answers, false);
  EXPECT_TRUE(counts.output_tokens);
  EXPECT_FALSE(counts.prompt_tokens);
  EXPECT_EQ(counts.why_no_tokens, "the server did not say how many tokens some prompts have");
  const SteadyFigures figures = steady_figures(slices_at(200, 30), answers, start);
  EXPECT_TRUE(figures.output_tokens_per_answer) << figures.why_not_steady;
  EXPECT_FALSE(figures.prompt_tokens_per_answer);
  EXPECT_EQ(figures.why_no_prompt_tokens, "the server does not count them");
}

TEST(BenchResults, AreReadAsTheyWereWritten) {
  BenchResult result;
  result.url = "http://127.0.0.1:1";
  result.model = "m";
  result.gpus = {{.index = 0, .uuid = "GPU-1", .name = "A"}};
  result.answers = answer_counts(closed_loop(8, 30), false);
  result.steady = steady_figures(slices_at(200, 30), closed_loop(8, 30), start);
  const std::string json = to_json(result);
  EXPECT_EQ(to_json(bench_result_from_json(json)), json);
  result.steady = steady_figures({}, {}, start);
  const std::string unknown = to_json(result);
  EXPECT_EQ(to_json(bench_result_from_json(unknown)), unknown);
  EXPECT_THROW(static_cast<void>(bench_result_from_json("{}")), Error);
}

}  // namespace
}  // namespace zeus::serving
