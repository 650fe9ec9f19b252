#include "jobs/job.hpp"
#include "records/json_value.hpp"
#include "server/api.hpp"
#include "server/event_hub.hpp"
#include "server/open_jobs.hpp"
#include "server/pipeline_desk.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
#include "store/open_store.hpp"
#include "tests/support/held_exchange.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/event_loop.hpp"
#include "transport/workers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::server {
namespace {

using records::JsonValue;
using test::HeldExchange;

struct PipelineAnswer {
  int status = 0;
  std::string body;
};

class PipelineRoutes : public testing::Test {
 protected:
  std::shared_ptr<HeldExchange> send(std::string_view method, std::string_view target, std::string_view body = {}) {
    const std::size_t mark = std::min(target.find('?'), target.size());
    auto exchange = std::make_shared<HeldExchange>(
        transport::Request{.method = std::string{method},
                           .path = std::string{target.substr(0, mark)},
                           .query = std::string{mark < target.size() ? target.substr(mark + 1) : ""},
                           .headers = {{"Host", "localhost"}},
                           .body = std::string{body}});
    api_.handle(exchange);
    return exchange;
  }
  static PipelineAnswer said(const HeldExchange& exchange) {
    const std::optional<transport::Answer> answer = exchange.answered();
    return answer ? PipelineAnswer{answer->status, answer->body} : PipelineAnswer{};
  }
  PipelineAnswer ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    return said(*send(method, target, body));
  }
  // The ID of a training of this shape, or the refusal.
  PipelineAnswer begin(int stages, int copies, int world, std::string_view remark = "null") {
    PipelineAnswer made =
        ask("POST", "/register_job",
            fmt::format(R"({{"job_id":"","pp_degree":{},"dp_degree":{},"tp_degree":1,"world_size":{},)"
                        R"("job_metadata":{}}})",
                        stages, copies, world, remark));
    if (made.status == 200) {
      made.body = *JsonValue::parse(made.body)->string();
    }
    return made;
  }
  PipelineAnswer enter(std::string_view id, int rank, int stage, int copy = 0,
                       std::string_view clocks = "1380,1200,900") {
    return ask("POST", fmt::format("/register_rank/{}", id),
               fmt::format(R"({{"rank":{},"dp_rank":{},"pp_rank":{},"tp_rank":0,"available_frequencies":[{}]}})", rank,
                           copy, stage, clocks));
  }
  std::shared_ptr<HeldExchange> wait(std::string_view id, int rank) {
    return send("GET", fmt::format("/schedule/{}?rank={}", id, rank));
  }

  // Workers note requests after their answers.
  void TearDown() override { workers_.reset(); }

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
  PipelineDesk desk_{{{{"forward", Megahertz{1380}}, {"backward", Megahertz{900}}}, {{"forward", Megahertz{1200}}}}};
  Service service_{.store = *store_,
                   .site = site_,
                   .jobs = jobs_,
                   .events = *events_,
                   .version = "0",
                   .instance = "1",
                   .pipelines = &desk_};
  int noted(const std::string& what) {
    const std::lock_guard guard{noted_mutex_};
    return noted_[what];
  }

  std::mutex noted_mutex_;
  std::map<std::string, int> noted_;
  std::optional<transport::Workers> workers_{std::in_place, 1, 8};
  Api api_{loop_, service_, *workers_, clock_, nullptr, [this](std::string_view route, int status, Seconds /*took*/) {
             const std::lock_guard guard{noted_mutex_};
             noted_[fmt::format("{} {}", route, status)] += 1;
           }};
};

TEST_F(PipelineRoutes, EachRankGetsItsStagesClocksWhenAllHaveRegistered) {
  const std::string id = begin(2, 2, 4).body;
  std::vector<std::shared_ptr<HeldExchange>> waiting;
  for (int rank = 0; rank < 4; ++rank) {
    for (const auto& earlier : waiting) {
      EXPECT_EQ(said(*earlier).status, 0) << "before rank " << rank;
    }
    EXPECT_EQ(enter(id, rank, rank % 2, rank / 2).body, "null");
    waiting.push_back(wait(id, rank));
  }
  for (int rank = 0; rank < 4; ++rank) {
    const PipelineAnswer schedule = said(*waiting[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(schedule.status, 200);
    EXPECT_EQ(schedule.body,
              fmt::format(R"({{"rank":{},"frequencies":[{}]}})", rank,
                          rank % 2 == 0 ? R"(["forward",1380],["backward",900])" : R"(["forward",1200])"));
  }
  EXPECT_EQ(noted("getPipelineSchedule 200"), 4);
}

TEST_F(PipelineRoutes, APlanWithAListForEachRankIsGivenByRank) {
  const std::string id = begin(1, 2, 2).body;
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(enter(id, rank, 0, rank).status, 200);
  }
  EXPECT_EQ(said(*wait(id, 1)).body, R"({"rank":1,"frequencies":[["forward",1200]]})");
}

TEST_F(PipelineRoutes, IdsAreSafeInAnyPathAndDiffer) {
  const std::string id = begin(2, 1, 2, R"("../a job?x=#%2F\u0000ü")").body;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"), std::string::npos)
      << id;
  EXPECT_NE(id.find("-dp1-pp2-tp1-"), std::string::npos) << id;
  EXPECT_NE(id, begin(2, 1, 2, R"("../a job?x=#%2F\u0000ü")").body);
}

TEST_F(PipelineRoutes, AShapeThatDoesNotFitIsRefusedWithOneSentence) {
  EXPECT_NE(begin(2, 2, 5).body.find("pp_degree 2 x dp_degree 2 x tp_degree 1 is not world_size 5"), std::string::npos);
  EXPECT_NE(begin(3, 1, 3).body.find("plan is for 2 pipeline ranks, and this training has 3"), std::string::npos);
  EXPECT_EQ(begin(0, 1, 0).status, 400);
  EXPECT_EQ(begin(65536, 65536, 1).status, 400);
  EXPECT_EQ(ask("POST", "/register_job", R"({"pp_degree":2})").status, 400);
}

TEST_F(PipelineRoutes, RanksThatDisagreeAreNamed) {
  const std::string id = begin(2, 2, 4).body;
  EXPECT_EQ(enter(id, 1, 1, 0).status, 200);
  EXPECT_EQ(enter(id, 1, 1, 0).status, 200) << "a rank that registers again is the same";
  EXPECT_NE(enter(id, 4, 0).body.find("rank 4 (pp_rank 0, dp_rank 0, tp_rank 0) is outside"), std::string::npos);
  EXPECT_NE(enter(id, 0, 2).body.find("rank 0 (pp_rank 2"), std::string::npos);
  EXPECT_NE(enter(id, 1, 0, 0).body.find("rank 1 is registered at pp_rank 1"), std::string::npos);
  EXPECT_NE(enter(id, 3, 1, 0).body.find("rank 1 and rank 3 are both at pp_rank 1"), std::string::npos);
  EXPECT_NE(enter(id, 2, 0, 1, "1380,1200").body.find("rank 2: its GPU cannot be locked to 900 MHz"),
            std::string::npos);
  EXPECT_EQ(said(*wait(id, 2)).status, 409);
}

TEST_F(PipelineRoutes, ARankThatNeverRegistersIsNamedToThoseThatWait) {
  const std::string id = begin(2, 2, 4).body;
  EXPECT_EQ(enter(id, 2, 0, 1).status, 200);
  const auto waiting = wait(id, 2);
  clock_.advance(PipelineDesk::patience - Seconds{1});
  desk_.look(clock_.now());
  EXPECT_EQ(said(*waiting).status, 0);
  const auto asked_again = wait(id, 2);
  clock_.advance(Seconds{2});
  desk_.look(clock_.now());
  EXPECT_EQ(said(*waiting).status, 409);
  EXPECT_EQ(said(*asked_again).status, 409) << "asking again is not registering";
  EXPECT_NE(said(*asked_again).body.find("ranks 0, 1, 3 of 4 did not register within 60 s"), std::string::npos);
  EXPECT_EQ(noted("getPipelineSchedule 409"), 2);
}

TEST_F(PipelineRoutes, AnUnknownTrainingIsRefusedAndResultsAreChecked) {
  EXPECT_EQ(enter("absent", 0, 0).status, 404);
  EXPECT_EQ(said(*wait("absent", 0)).status, 404);
  const std::string id = begin(2, 1, 2).body;
  EXPECT_EQ(enter(id, 0, 0).status, 200);
  const std::string path = "/result/" + id;
  const auto result = [&](int rank, std::string_view times, std::string_view parts) {
    const auto sent = send(
        "POST", path,
        fmt::format(R"({{"rank":{},"iter_time":[{}],"iter_energy":[3],"time_breakdown":{},"energy_breakdown":{{}}}})",
                    rank, times, parts));
    sent->wait_for_answer();
    return said(*sent);
  };
  EXPECT_EQ(result(0, "1.5", R"({"forward":[[0.5,1]]})").body, "null");
  EXPECT_EQ(result(1, "1.5", "{}").status, 409);
  EXPECT_EQ(result(0, "NaN", "{}").status, 400);
  EXPECT_EQ(result(0, "-1", "{}").status, 400);
  EXPECT_EQ(result(0, "1.5", R"({"forward":[0.5]})").status, 400);
}

TEST_F(PipelineRoutes, TheEndOfTheServerReachesThoseThatWait) {
  const std::string id = begin(2, 1, 2).body;
  EXPECT_EQ(enter(id, 0, 0).status, 200);
  const auto first = wait(id, 0);
  const auto again = wait(id, 0);
  EXPECT_EQ(said(*first).status, 409) << "the later request of a rank counts";
  desk_.end();
  EXPECT_NE(said(*again).body.find("the server stops"), std::string::npos);
}

TEST_F(PipelineRoutes, MemoryIsBounded) {
  const std::string oldest = begin(2, 1, 2).body;
  EXPECT_EQ(enter(oldest, 0, 0).status, 200);
  const auto waiting = wait(oldest, 0);
  for (int i = 0; i < 1000; ++i) {
    clock_.advance(Seconds{0.001});
    EXPECT_EQ(begin(2, 1, 2).status, 200);
  }
  EXPECT_EQ(said(*waiting).status, 409);
  EXPECT_EQ(enter(oldest, 1, 1).status, 404);
}

TEST_F(PipelineRoutes, WithoutAPlanTheRoutesSayWhatToDo) {
  EXPECT_EQ(ask("GET", "/info").body, R"({"version":"0","planned_ranks":2})");
  service_.pipelines = nullptr;
  EXPECT_EQ(ask("GET", "/info").body, R"({"version":"0","planned_ranks":null})");
  const PipelineAnswer refused = begin(2, 1, 2);
  EXPECT_EQ(refused.status, 404);
  EXPECT_NE(refused.body.find("start `zeus serve` with --pipeline-plan FILE"), std::string::npos);
}

}  // namespace
}  // namespace zeus::server
