#include "serving/http_traffic.hpp"

#include "tests/support/running_server.hpp"
#include "transport/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace zeus::serving {
namespace {

using test::comes_true;
using test::RunningServer;
using transport::Exchange;

const char* const stream_of_answer =
    "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
    "data: "
    "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}"
    "\n\n"
    "data: [DONE]\n\n";

void answer_by_stream(const std::shared_ptr<Exchange>& exchange) {
  const auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
  stream->offer(std::make_shared<const std::string>(stream_of_answer));
  stream->end();
}

HttpPlan plan_for(const RunningServer& server) {
  return {.server = {.server = {.unix_path = server.path(), .host_port = {}}},
          .request = {.route = Route::chat, .model = "m", .max_tokens = 1},
          .in_flight = 4};
}

bool ends(const HttpTraffic& traffic) {
  return comes_true([&] { return traffic.is_over(); });
}

TEST(HttpTraffic, AsksOnceForEachPromptInRealTime) {
  const RunningServer server{answer_by_stream};
  SystemClock clock;
  HttpTraffic traffic{plan_for(server), synthetic_prompts(40, 5, 1), clock};
  ASSERT_TRUE(ends(traffic));
  EXPECT_EQ(traffic.progress().ended, 40U);
  EXPECT_FALSE(traffic.has_given_up());
  const std::vector<Answer> answers = traffic.take_answers();
  ASSERT_EQ(answers.size(), 40U);
  for (const Answer& answer : answers) {
    EXPECT_TRUE(answer.is_whole()) << answer.failure << answer.detail;
    EXPECT_EQ(answer.usage->output_tokens, 1U);
    EXPECT_LE(answer.due, answer.sent);
    EXPECT_LE(answer.sent, answer.arrivals.front());
  }
}

TEST(HttpTraffic, AtARateRequestsAreDueAtRandomMomentsInRealTime) {
  const RunningServer server{answer_by_stream};
  SystemClock clock;
  HttpPlan plan = plan_for(server);
  plan.rate = 200;
  HttpTraffic traffic{plan, synthetic_prompts(20, 5, 1), clock};
  ASSERT_TRUE(ends(traffic));
  const std::vector<Answer> answers = traffic.take_answers();
  ASSERT_EQ(answers.size(), 20U);
  EXPECT_TRUE(std::ranges::is_sorted(answers, {}, &Answer::due));
  EXPECT_GT(answers.back().due - answers.front().due, Seconds{0.01});
}

TEST(HttpTraffic, StopLeavesWhatIsUnderWayUnfinishedInRealTime) {
  std::vector<std::shared_ptr<Exchange>> waiting;  // of the server's thread
  RunningServer server{[&](const std::shared_ptr<Exchange>& exchange) { waiting.push_back(exchange); }};
  SystemClock clock;
  HttpTraffic traffic{plan_for(server), synthetic_prompts(100, 5, 1), clock};
  ASSERT_TRUE(comes_true([&] { return traffic.progress().sent == 4; }));
  EXPECT_FALSE(traffic.is_over());
  traffic.stop();
  EXPECT_TRUE(traffic.is_over());
  const std::vector<Answer> answers = traffic.take_answers();
  EXPECT_EQ(answers.size(), 4U);
  EXPECT_TRUE(std::ranges::all_of(answers, [](const Answer& answer) { return answer.failure == unfinished; }));
  server.call([&] { waiting.clear(); });
}

TEST(HttpTraffic, FailuresInARowEndItInRealTime) {
  const RunningServer server{[](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({500, {}, R"({"error":{"message":"out of memory"}})"});
  }};
  SystemClock clock;
  HttpPlan plan = plan_for(server);
  plan.rate = 1000;  // without the pause of a closed loop
  HttpTraffic traffic{plan, synthetic_prompts(500, 5, 1), clock};
  ASSERT_TRUE(ends(traffic));
  EXPECT_TRUE(traffic.has_given_up());
  const std::vector<Answer> answers = traffic.take_answers();
  EXPECT_LT(answers.size(), 100U);
  EXPECT_EQ(answers.front().failure, "status 500");
  EXPECT_EQ(answers.front().detail, "out of memory");
}

}  // namespace
}  // namespace zeus::serving
