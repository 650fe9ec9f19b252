#include "server/existing_routes.hpp"

#include "jobs/job_state.hpp"
#include "records/json_value.hpp"
#include "server/api.hpp"
#include "server/event_hub.hpp"
#include "server/open_jobs.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
#include "service/front.hpp"
#include "store/open_store.hpp"
#include "tests/support/held_exchange.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/event_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zeus::server {
namespace {

using protocol::Scope;
using records::JsonValue;

constexpr std::string_view spec_json =
    R"({"job_id":"m/1","job_id_prefix":"m","batch_sizes":[64,32,128],"default_batch_size":64,"max_epochs":5,)"
    R"("target_metric":0.9,"max_power":500,"number_of_gpus":2,"gpu_model":"V100"})";

struct Said {
  int status = 0;
  JsonValue body;
  transport::Headers headers;

  [[nodiscard]] std::string message() const { return *body["message"].string(); }
  [[nodiscard]] int number(std::string_view key) const { return body[key].whole<int>().value_or(-1); }
  [[nodiscard]] bool truth(std::string_view key) const { return body[key].boolean().value(); }
};

class ExistingRoutes : public testing::Test {
 protected:
  Said ask(std::string_view method, std::string_view target, std::string_view body = {},
           const transport::Headers& headers = {}) {
    transport::Request request{.method = std::string{method},
                               .path = std::string{target.substr(0, target.find('?'))},
                               .query = {},
                               .headers = headers,
                               .body = std::string{body}};
    if (const std::size_t mark = target.find('?'); mark != std::string_view::npos) {
      request.query = target.substr(mark + 1);
    }
    for (const Route& route : routes_) {
      if (route.method == request.method && route.path == request.path) {
        const Call call{front_, std::make_shared<test::HeldExchange>(request), clock_.now(), visitor_};
        about_ = route.job_of(call);
        transport::Answer answer;
        try {
          answer = route.work(service_, call);
        } catch (const Error& error) {
          answer = route.refuse(error);
        }
        const std::optional<JsonValue> read = JsonValue::parse(answer.body);
        EXPECT_TRUE(read) << answer.body;
        return {.status = answer.status, .body = read.value_or(JsonValue{}), .headers = answer.headers};
      }
    }
    ADD_FAILURE() << "no route for " << target;
    return {};
  }
  // Requests come from this user from now on.
  void become(std::string user, std::vector<Scope> scopes = {Scope::jobs_read, Scope::jobs_write}) {
    visitor_ = {.user = std::move(user), .scopes = std::move(scopes)};
  }
  Said choose() { return ask("GET", "/jobs/batch_size?job_id=m%2F1"); }
  Said report(int trial, int size, int epoch, std::string_view metric, double energy, double seconds) {
    return ask("POST", "/report",
               fmt::format(R"({{"job_id":"m/1","batch_size":{},"trial_number":{},"time":{},"energy":{},"metric":{},)"
                           R"("current_epoch":{}}})",
                           size, trial, seconds, energy, metric, epoch));
  }
  Said end(int trial, int size) {
    return ask("PATCH", "/trials", fmt::format(R"({{"job_id":"m/1","batch_size":{},"trial_number":{}}})", size, trial));
  }
  // Runs a trial of one epoch that takes this many joules and reaches the target.
  int run(double joules) {
    const Said chosen = choose();
    const int size = chosen.number("batch_size");
    EXPECT_TRUE(report(chosen.number("trial_number"), size, 1, "0.95", joules, 1).truth("converged"));
    return size;
  }

  test::TemporaryFolder folder_;
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  FileTree machine_{folder_.path()};
  jobs::Site site_{
      .clock = clock_,
      .machine = machine_,
      .owner = {.host = "node", .place = "server", .process = {.pid = 1, .started = 1, .command = "zeus"}}};
  std::unique_ptr<store::JobStore> store_ =
      store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
  OpenJobs jobs_{*store_, site_, std::size_t{64} << 20};
  transport::EventLoop loop_;
  std::shared_ptr<EventHub> events_ = std::make_shared<EventHub>(loop_, clock_, *store_, jobs_);
  Service service_{.store = *store_, .site = site_, .jobs = jobs_, .events = *events_, .version = "0", .instance = "1"};
  const service::Access access_;
  const service::Front front_{clock_, door, access_, {}, {}, {}};
  Visitor visitor_{.user = {}, .scopes = {Scope::jobs_read, Scope::jobs_write, Scope::jobs_admin}};
  std::vector<Route> routes_ = existing_routes();
  std::string about_;
};

TEST_F(ExistingRoutes, AJobIsRegisteredOnceAndIsTheSameAfterwards) {
  const Said made = ask("POST", "/jobs", spec_json);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(about_, "m/1");
  EXPECT_EQ(made.body["batch_sizes"], *JsonValue::parse("[32,64,128]"));
  EXPECT_EQ(made.headers.get("Zeus-Takes"), "beats");
  const Said again = ask("POST", "/jobs", spec_json, {{"Content-Type", "application/json; charset=utf-8"}});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, made.body);
  std::string other{spec_json};
  other.replace(other.find("500"), 3, "600");
  const Said refused = ask("POST", "/jobs", other);
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.message().find("500 W at most, not 600 W"), std::string::npos) << refused.message();
}

TEST_F(ExistingRoutes, AJobWithoutANameGetsOne) {
  std::string unnamed{spec_json};
  unnamed.replace(unnamed.find("\"m/1\""), 5, "null");
  const Said first = ask("POST", "/jobs", unnamed);
  const Said second = ask("POST", "/jobs", unnamed);
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(second.status, 201);
  EXPECT_NE(*first.body["job_id"].string(), *second.body["job_id"].string());
}

TEST_F(ExistingRoutes, FaultsOfARequestAreListed) {
  for (const auto& [method, path] : {std::pair{"POST", "/jobs"}, {"POST", "/report"}, {"PATCH", "/trials"}}) {
    const Said refused = ask(method, path, "{}");
    EXPECT_EQ(refused.status, 422) << path;
    EXPECT_GT(refused.body["detail"].size(), 2U) << path;
    EXPECT_EQ(ask(method, path, spec_json, {{"Content-Type", "text/plain"}}).status, 422) << path;
  }
  EXPECT_EQ(ask("GET", "/jobs/batch_size").status, 422);
  EXPECT_EQ(ask("DELETE", "/jobs?name=m").status, 422);
}

TEST_F(ExistingRoutes, MissingThingsAreReportedLikeThatServerDoes) {
  for (const std::string_view name : {"no", "", "%00", "%ff", "a%0ab"}) {
    EXPECT_EQ(ask("GET", fmt::format("/jobs/batch_size?job_id={}", name)).status, 400) << name;
    EXPECT_EQ(ask("DELETE", fmt::format("/jobs?job_id={}", name)).status, 404) << name;
  }
  EXPECT_EQ(report(1, 64, 1, "0.1", 1, 1).status, 400);
  EXPECT_EQ(end(1, 64).status, 404);
  ask("POST", "/jobs", spec_json);
  EXPECT_EQ(report(1, 64, 1, "0.1", 1, 1).status, 400);
  EXPECT_EQ(end(1, 64).status, 404);
  choose();
  EXPECT_EQ(report(1, 32, 1, "0.1", 1, 1).status, 400) << "of another batch size";
  EXPECT_EQ(report(0, 64, 1, "0.1", 1, 1).status, 400);
  EXPECT_EQ(report(2, 64, 1, "0.1", 1, 1).status, 400);
  EXPECT_EQ(end(1, 32).status, 404);
  EXPECT_EQ(end(1, 64).status, 200);
}

TEST_F(ExistingRoutes, TrialsAreNumberedFromOneAndGoThroughTheBatchSizes) {
  ask("POST", "/jobs", spec_json);
  for (const auto& [number, size] : {std::pair{1, 64}, {2, 32}, {3, 128}}) {
    const Said chosen = choose();
    EXPECT_EQ(chosen.status, 200);
    EXPECT_EQ(chosen.number("trial_number"), number);
    EXPECT_EQ(chosen.number("batch_size"), size);
    const Said going = report(number, size, 1, "0.1", 1000, 10);
    EXPECT_EQ(going.status, 200);
    EXPECT_FALSE(going.truth("stop_train"));
    const Said done = report(number, size, 2, "0.9", 2000, 20);
    EXPECT_TRUE(done.truth("stop_train"));
    EXPECT_TRUE(done.truth("converged"));
    const Said told = report(number, size, 2, "0.1", 9000, 90);
    EXPECT_TRUE(told.truth("stop_train"));
    EXPECT_TRUE(told.truth("converged"));
    EXPECT_NE(told.body["message"].string()->find("is already reported."), std::string::npos);
  }
}

TEST_F(ExistingRoutes, ATrialThatMissesTheTargetIsFollowedByAnotherBatchSize) {
  ask("POST", "/jobs", spec_json);
  run(1000);
  EXPECT_EQ(choose().number("batch_size"), 32);
  for (int epoch = 1; epoch < 5; ++epoch) {
    EXPECT_FALSE(report(2, 32, epoch, "NaN", 10.0 * epoch, 0.1 * epoch).truth("stop_train"));
  }
  const Said failed = report(2, 32, 5, "0.1", 50, 0.5);
  EXPECT_TRUE(failed.truth("stop_train"));
  EXPECT_FALSE(failed.truth("converged"));
  EXPECT_NE(failed.body["message"].string()->find("Train failed to converge within max_epoch(5)"), std::string::npos);
  EXPECT_EQ(choose().number("batch_size"), 128);
  jobs_.with("m/1", [](jobs::Job& job) {
    ASSERT_EQ(job.open_recurrences().size(), 1U);
    EXPECT_EQ(job.open_recurrences().front().number, 1U) << "the recurrence whose last try has failed";
    EXPECT_EQ(job.open_recurrences().front().tries, 2);
  });
}

TEST_F(ExistingRoutes, ATrialIsStoppedBeforeTheEpochThatWouldExceedItsBound) {
  ask("POST", "/jobs", spec_json);
  run(1000);  // costs 0.5 x 1000 + 0.5 x 500 x 1 = 750, so the bound is 1500
  EXPECT_EQ(choose().number("batch_size"), 32);
  EXPECT_FALSE(report(2, 32, 1, "0.1", 800, 1).truth("stop_train"));  // 650
  const Said stopped = report(2, 32, 2, "0.1", 1600, 2);              // 1300, and a third would be 1950
  EXPECT_TRUE(stopped.truth("stop_train"));
  EXPECT_FALSE(stopped.truth("converged"));
  EXPECT_NE(stopped.body["message"].string()->find("cost upper bound"), std::string::npos);
}

TEST_F(ExistingRoutes, ATrialMayReachTheTargetOverBudget) {
  ask("POST", "/jobs", spec_json);
  run(1000);
  choose();
  const Said reached = report(2, 32, 1, "0.9", 1e6, 1000);
  EXPECT_TRUE(reached.truth("stop_train"));
  EXPECT_TRUE(reached.truth("converged"));
}

TEST_F(ExistingRoutes, TheFirstReportOfAnEpochDecidesForAllRanks) {
  ask("POST", "/jobs", spec_json);
  run(1000);
  choose();
  EXPECT_FALSE(report(2, 32, 1, "0.1", 800, 1).truth("stop_train"));
  EXPECT_FALSE(report(2, 32, 1, "0.1", 9e9, 1).truth("stop_train"))
      << "another rank, whose figures alone would stop it";
  EXPECT_TRUE(report(2, 32, 2, "0.1", 1600, 2).truth("stop_train"));
  EXPECT_TRUE(report(2, 32, 2, "0.1", 1, 2).truth("stop_train"));
}

// Another rank may be the first to report an epoch, with lower figures.
TEST_F(ExistingRoutes, TheTotalsOfATrialNeverFall) {
  ask("POST", "/jobs", spec_json);
  choose();
  report(1, 64, 1, "0.1", 1000, 10);
  EXPECT_EQ(report(1, 64, 2, "0.1", 900, 9).status, 200);
  EXPECT_TRUE(report(1, 64, 3, "0.9", 950, 20).truth("converged"));
  const auto entries = store_->entries(store_->find("m/1")->id, 0, 100);
  const auto& finished = std::get<records::TryFinished>(entries.back().body);
  EXPECT_EQ(finished.energy, 1000_J);
  EXPECT_EQ(finished.result.progress.time, 20_s);
}

TEST_F(ExistingRoutes, ReportsAreOnRecordToTheLastDigit) {
  ask("POST", "/jobs", spec_json);
  choose();
  report(1, 64, 1, "0.95", 1234.5678901234567, 98.765432109876543);
  const auto entries = store_->entries(store_->find("m/1")->id, 0, 100);
  const auto& finished = std::get<records::TryFinished>(entries.back().body);
  EXPECT_EQ(finished.energy, Joules{1234.5678901234567});
  EXPECT_EQ(finished.result.progress.time, Seconds{98.765432109876543});
  EXPECT_EQ(finished.result.progress.metric, 0.95);
}

TEST_F(ExistingRoutes, ATrialThatEndsWithoutAResultIsTriedAgain) {
  ask("POST", "/jobs", spec_json);
  choose();
  EXPECT_EQ(end(1, 64).status, 200);
  EXPECT_EQ(end(1, 64).status, 200) << "once more";
  const Said again = choose();
  EXPECT_EQ(again.number("batch_size"), 64);
  EXPECT_EQ(again.number("trial_number"), 2);
  report(2, 64, 1, "0.9", 1, 1);
  EXPECT_EQ(end(2, 64).status, 200) << "over already, and left alone";
  EXPECT_EQ(choose().number("batch_size"), 32);
}

TEST_F(ExistingRoutes, ALateReportOfAGivenUpTrialIsAnsweredByItsOwnFigures) {
  ask("POST", "/jobs", spec_json);
  choose();
  end(1, 64);
  EXPECT_FALSE(report(1, 64, 1, "0.1", 100, 1).truth("stop_train"));
  const Said reached = report(1, 64, 2, "0.9", 200, 2);
  EXPECT_TRUE(reached.truth("stop_train"));
  EXPECT_TRUE(reached.truth("converged"));
  EXPECT_NE(reached.body["message"].string()->find("counts for nothing"), std::string::npos);
  EXPECT_EQ(choose().number("batch_size"), 64) << "the late report taught nothing";
}

TEST_F(ExistingRoutes, AClientIsGivenUpAfterAnHourOfSilenceOrTwoMinutesIfItBeats) {
  ask("POST", "/jobs", spec_json);
  choose();
  const auto number_after = [this](Seconds silence) {
    choose();  // notes the open trials
    clock_.advance(silence);
    return choose().number("batch_size");
  };
  // One is running, and others are concurrent.
  EXPECT_EQ(number_after(Seconds{3500}), 64);
  jobs_.with("m/1", [](jobs::Job& job) { EXPECT_EQ(job.open_recurrences().size(), 3U); });
  clock_.advance(Seconds{200});
  choose();
  jobs_.with("m/1", [](jobs::Job& job) { EXPECT_LT(job.open_recurrences().size(), 4U); });
}

TEST_F(ExistingRoutes, TheLeaseIsTenOfTheLongestEpochsButAtLeastAnHour) {
  EXPECT_EQ(existing_lease(std::nullopt), Seconds{3600});
  EXPECT_EQ(existing_lease(Seconds{10}), Seconds{3600});
  EXPECT_EQ(existing_lease(Seconds{1000}), Seconds{10'000});
}

TEST_F(ExistingRoutes, AClientThatBeatsLearnsWhereAndHasTheUsualLease) {
  ask("POST", "/jobs", spec_json);
  EXPECT_FALSE(choose().headers.get("Zeus-Beat-Path"));
  const transport::Headers beats{{"Zeus-Gives", "beats"}, {"Idempotency-Key", "one"}};
  const Said chosen = ask("GET", "/jobs/batch_size?job_id=m%2F1", {}, beats);
  EXPECT_EQ(chosen.headers.get("Zeus-Beat-Path"), "/api/v1/jobs/m%2F1/recurrences/2/beat");
  const Said again = ask("GET", "/jobs/batch_size?job_id=m%2F1", {}, beats);
  EXPECT_EQ(again.body, chosen.body) << "the same key is the same trial";
  jobs_.with("m/1", [](jobs::Job& job) {
    ASSERT_EQ(job.open_recurrences().size(), 2U);
    EXPECT_EQ(job.open_recurrences()[0].lease, Seconds{3600});
    EXPECT_FALSE(job.open_recurrences()[1].lease);
  });
  EXPECT_EQ(ask("GET", "/jobs/batch_size?job_id=m%2F1", {}, {{"Idempotency-Key", "a\xff"}}).status, 400);
}

TEST_F(ExistingRoutes, OnlyTheUserOfATrialOrAnAdministratorMayReportOnIt) {
  become("ann");
  ask("POST", "/jobs", spec_json);
  choose();
  become("bob");
  EXPECT_EQ(report(1, 64, 1, "0.9", 1, 1).status, 403);
  EXPECT_EQ(end(1, 64).status, 403);
  become("carol", {Scope::jobs_write, Scope::jobs_admin});
  EXPECT_EQ(report(1, 64, 1, "0.1", 1, 1).status, 200);
  become("ann");
  EXPECT_EQ(report(1, 64, 2, "0.9", 2, 2).status, 200);
  become("bob");
  EXPECT_EQ(report(1, 64, 2, "0.9", 2, 2).status, 403) << "also when it is over";
}

TEST_F(ExistingRoutes, AUserCannotExceedTheQuotaOfJobs) {
  service_.jobs_of_a_user = 1;
  become("ann");
  std::string other{spec_json};
  other.replace(other.find("m/1"), 3, "m/2");
  EXPECT_EQ(ask("POST", "/jobs", spec_json).status, 201);
  EXPECT_EQ(ask("POST", "/jobs", other).status, 403);
  EXPECT_EQ(ask("POST", "/jobs", spec_json).status, 200);
  become("bob");
  EXPECT_EQ(ask("POST", "/jobs", other).status, 201);
}

TEST_F(ExistingRoutes, AJobIsForgottenOnce) {
  ask("POST", "/jobs", spec_json);
  const Said forgotten = ask("DELETE", "/jobs?job_id=m/1");
  EXPECT_EQ(forgotten.status, 200);
  EXPECT_TRUE(forgotten.body.is_null());
  EXPECT_EQ(ask("DELETE", "/jobs?job_id=m/1").status, 404);
  EXPECT_EQ(choose().status, 400);
  EXPECT_EQ(ask("POST", "/jobs", spec_json).status, 201);
  EXPECT_EQ(choose().number("trial_number"), 1);
}

}  // namespace
}  // namespace zeus::server
