#include "serving/arena.hpp"

#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "records/json_value.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/client.hpp"
#include "transport/listener.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::serving {
namespace {

using transport::Exchange;

void answer_with(const std::shared_ptr<Exchange>& exchange, const std::string& events, bool has_end = true) {
  const auto stream = exchange->stream(200, {{"Content-Type", "text/event-stream"}});
  stream->offer(std::make_shared<const std::string>(events));
  if (has_end) {
    stream->end();
  }
}

const char* const whole_answer =
    "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":1}}\n\n"
    "data: [DONE]\n\n";

transport::Answer post(const std::string& address, const std::string& path, const std::string& body) {
  transport::HttpClient client{{.server = {.unix_path = {}, .host_port = address}, .answer_time = Seconds{60}}};
  return client.ask({.method = "POST", .path = path, .query = {}, .headers = {}, .body = body});
}

// The ID of two answers, or all events if there is none.
std::string ask_both(const std::string& address) {
  const std::string events = post(address, "/ask", R"({"prompt":"why?"})").body;
  const auto last = records::JsonValue::parse(events.substr(events.rfind("data: ") + 6));
  const records::JsonValue* const id = last ? last->find("id") : nullptr;
  const std::string* const text = id != nullptr ? id->string() : nullptr;
  return text != nullptr ? *text : events;
}

// Two servers and the arena, which measures no GPU.
class RunningArena {
 public:
  explicit RunningArena(const transport::HttpServer::Handler& handler, bool at_once = true)
      : servers_{test::RunningServer{handler}, test::RunningServer{handler}} {
    ArenaPlan plan{.at_once = at_once, .seed = 7};
    for (std::size_t side = 0; side < 2; ++side) {
      monitors_.push_back(measure::monitor_of(source_, {.gpus = std::vector<int>{}, .cpus = std::vector<int>{}}));
      plan.sides.at(side) = {.url = "http://" + servers_.at(side).tcp(),
                             .plan = {.server = {.server = {.unix_path = servers_.at(side).path(), .host_port = {}}},
                                      .request = {.model = side == 0 ? "one" : "other", .max_tokens = 1}}};
    }
    for (std::size_t side = 0; side < 2; ++side) {
      plan.sides.at(side).monitor = &monitors_[side];
    }
    arena_.emplace(loop_, clock_, plan, votes_);
    for (FileDescriptor& socket : transport::listen_on_tcp("127.0.0.1:0")) {
      address_ = transport::address_of(socket);
      arena_->accept_on(std::move(socket));
    }
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  RunningArena(const RunningArena&) = delete;
  RunningArena& operator=(const RunningArena&) = delete;
  ~RunningArena() {
    loop_.stop();
    thread_.join();
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] ReadVotes kept() const {
    std::ifstream file{folder_.path() / "votes"};
    return read_votes(std::string{std::istreambuf_iterator<char>{file}, {}});
  }

 private:
  test::TemporaryFolder folder_;
  SystemClock clock_;
  std::array<test::RunningServer, 2> servers_;
  std::shared_ptr<measure::SamplerSource> source_ =
      std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{}, clock_);
  std::vector<Monitor> monitors_;
  VoteFile votes_{folder_.path() / "votes"};
  transport::EventLoop loop_;
  std::optional<Arena> arena_;
  std::string address_;
  std::thread thread_;
};

TEST(Arena, KeepsEveryVoteOfManyVisitorsAtOnceInRealTime) {
  constexpr int visitors = 6;
  for (const bool at_once : {true, false}) {
    const RunningArena arena{[](const std::shared_ptr<Exchange>& exchange) { answer_with(exchange, whole_answer); },
                             at_once};
    std::vector<std::thread> threads;
    threads.reserve(visitors);
    for (int visitor = 0; visitor < visitors; ++visitor) {
      threads.emplace_back([&] {
        const std::string id = ask_both(arena.address());
        EXPECT_EQ(post(arena.address(), "/vote", R"({"better":"neither","id":")" + id + "\"}").status, 200) << id;
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    const ReadVotes read = arena.kept();
    EXPECT_EQ(read.unread_lines, 0U);
    EXPECT_EQ(count_votes(read.votes).at(0).neither, static_cast<std::uint64_t>(visitors));
  }
}

TEST(Arena, EndsWhileModelsAnswerInRealTime) {
  std::atomic<int> asked{0};
  std::thread visitor;
  {
    const RunningArena arena{[&](const std::shared_ptr<Exchange>& exchange) {
      answer_with(exchange, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", false);
      ++asked;
    }};
    visitor = std::thread{[address = arena.address()] {
      try {
        EXPECT_NE(ask_both(address).find("failure"), std::string::npos);
      } catch (const Error&) {  // it broke off
      }
    }};
    EXPECT_TRUE(test::comes_true([&] { return asked == 2; }));
  }
  visitor.join();
}

TEST(Arena, AModelThatFailsEndsTheComparisonInRealTime) {
  const RunningArena arena{[](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer({.status = 503, .headers = {}, .body = "busy"});
  }};
  EXPECT_NE(
      ask_both(arena.address()).find("There is no left answer: status 503, busy. Nothing can be voted; ask again."),
      std::string::npos)
      << ask_both(arena.address());
  EXPECT_EQ(post(arena.address(), "/vote", R"({"better":"left","id":"x"})").status, 404);
  EXPECT_TRUE(arena.kept().votes.empty());
}

}  // namespace
}  // namespace zeus::serving
