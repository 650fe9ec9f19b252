#include "remote_jobs/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace zeus::remote_jobs {
namespace {

using testing::ElementsAre;

const auto nobody_hurries = [] { return false; };
constexpr Seconds long_enough{1e6};

// A thread that waits on it moves it to the time that it waits for, unless another thread wakes it before.
class HurriedClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_.load(); }
  [[nodiscard]] WallTime wall() const override { return {}; }
  void sleep_until(Instant deadline) override {
    Instant before = now_.load();
    while (before < deadline && !now_.compare_exchange_weak(before, deadline)) {
    }
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) override {
    if (condition.wait_for(lock, std::chrono::milliseconds{1}) == std::cv_status::timeout) {
      sleep_until(deadline);
    }
  }

 private:
  std::atomic<Instant> now_ = Instant{};
};

// A server that accepts changes, or refuses them.
class Server {
 public:
  std::string tell(const Change& change) {
    const std::lock_guard lock{mutex_};
    ++asked_;
    if (away_ > 0) {
      --away_;
      throw Error{ErrorKind::unavailable, "the server is away", "wait"};
    }
    if (change.body == refused_) {
      throw Error{ErrorKind::conflict, "it was given up", "begin another one"};
    }
    told_.push_back(change.body);
    return "heard " + change.body;
  }
  void be_away(int times) {
    const std::lock_guard lock{mutex_};
    away_ = times;
  }
  void refuse(std::string body) {
    const std::lock_guard lock{mutex_};
    refused_ = std::move(body);
  }
  std::vector<std::string> told() {
    const std::lock_guard lock{mutex_};
    return told_;
  }
  int asked() {
    const std::lock_guard lock{mutex_};
    return asked_;
  }

 private:
  std::mutex mutex_;
  int away_ = 0;
  int asked_ = 0;
  std::string refused_ = "none";
  std::vector<std::string> told_;
};

class OutboxTest : public testing::Test {
 protected:
  static Change change(std::string body) { return {.path = "/", .body = std::move(body), .key = {}}; }
  bool wait(Seconds patience = long_enough, const std::function<bool()>& hurry = nobody_hurries) {
    Patience left{clock_, patience, hurry};
    return outbox_.wait_until_told(left);
  }

  // Its requests may outlive the outbox.
  std::shared_ptr<Server> shared_server_ = std::make_shared<Server>();
  Server& server_ = *shared_server_;
  HurriedClock clock_;
  Outbox outbox_{clock_, [server = shared_server_](const Change& change) { return server->tell(change); }};
};

TEST_F(OutboxTest, SendsEverythingInOrder) {
  for (const std::string body : {"a", "b", "c"}) {
    outbox_.put(change(body));
  }
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre("a", "b", "c"));
}

TEST_F(OutboxTest, RetriesUntilTheServerIsBack) {
  server_.be_away(40);
  outbox_.put(change("a"));
  outbox_.put(change("b"));
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre("a", "b"));
  EXPECT_EQ(server_.asked(), 42);
}

TEST_F(OutboxTest, KeepsTheLatestOfWhatReplaces) {
  server_.be_away(1'000'000);
  outbox_.put(change("begun"));
  for (const std::string body : {"1 epoch", "2 epochs", "3 epochs"}) {
    outbox_.put(change(body), Outbox::Kind::replace);
  }
  outbox_.put(change("finished"));
  server_.be_away(0);
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre("begun", "3 epochs", "finished"));
}

TEST_F(OutboxTest, SendsNothingAfterARefusal) {
  server_.refuse("b");
  for (const std::string body : {"a", "b", "c"}) {
    outbox_.put(change(body));
  }
  wait();
  ASSERT_TRUE(outbox_.refusal());
  EXPECT_EQ(outbox_.refusal()->kind(), ErrorKind::conflict);
  outbox_.put(change("d"));
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre("a"));
}

TEST_F(OutboxTest, AnswersAQuestionOnceAndAfterWhatCameBefore) {
  outbox_.put(change("a"));
  outbox_.ask(change("b"));
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre("a", "b"));
  EXPECT_EQ(outbox_.take_answer(), "heard b");
  EXPECT_EQ(outbox_.take_answer(), std::nullopt);
}

TEST_F(OutboxTest, HasNoAnswerUntilTheServerIsBack) {
  server_.be_away(1'000'000'000);
  outbox_.ask(change("a"));
  EXPECT_FALSE(wait(Seconds{5}));
  EXPECT_EQ(outbox_.take_answer(), std::nullopt);
  server_.be_away(0);
  EXPECT_TRUE(wait());
  EXPECT_EQ(outbox_.take_answer(), "heard a");
}

TEST_F(OutboxTest, HasNoAnswerToARefusedQuestion) {
  server_.refuse("a");
  outbox_.ask(change("a"));
  wait();
  EXPECT_TRUE(outbox_.refusal());
  EXPECT_EQ(outbox_.take_answer(), std::nullopt);
}

TEST_F(OutboxTest, GivesUpWhenPatienceEnds) {
  server_.be_away(1'000'000);
  outbox_.put(change("a"));
  EXPECT_FALSE(wait(Seconds{600}));
}

TEST_F(OutboxTest, GivesUpSoonIfTheCallerHurries) {
  server_.be_away(1'000'000);
  outbox_.put(change("a"));
  const Instant began = clock_.now();
  EXPECT_FALSE(wait(long_enough, [] { return true; }));
  EXPECT_LT((clock_.now() - began).value(), 1000.0);
}

TEST_F(OutboxTest, ReportsOnceThatItWaitsAndEndsAtOnceOnRequest) {
  server_.be_away(1'000'000);
  outbox_.put(change("a"));
  int said = 0;
  const std::function<bool()> hurry = [&] { return said > 0; };
  Patience left{clock_, long_enough, hurry, Seconds{}, [&] { ++said; }};
  const Instant began = clock_.now();
  EXPECT_FALSE(outbox_.wait_until_told(left));
  EXPECT_EQ(said, 1);
  EXPECT_LT((clock_.now() - began).value(), 1000.0);
  EXPECT_TRUE(left.is_over());
  EXPECT_EQ(said, 1);
}

TEST_F(OutboxTest, DoesNotWaitForAServerThatKeepsARequestOpen) {
  std::promise<void> asked;
  std::promise<void> answers;
  std::promise<void> ended;
  {
    auto end = std::shared_ptr<void>(nullptr, [&ended](void*) { ended.set_value(); });
    Outbox outbox{clock_, [&asked, answer = answers.get_future().share(), end](const Change&) {
                    asked.set_value();
                    answer.wait();
                    return std::string{};
                  }};
    outbox.put(change("a"));
    outbox.put(change("b"));
    asked.get_future().wait();
  }
  answers.set_value();
  ended.get_future().wait();
}

TEST_F(OutboxTest, DropsABeatThatFails) {
  server_.be_away(1);
  outbox_.put_if_idle(change("beat"));
  EXPECT_TRUE(wait());
  EXPECT_THAT(server_.told(), ElementsAre());
  EXPECT_FALSE(outbox_.refusal());
}

}  // namespace
}  // namespace zeus::remote_jobs
