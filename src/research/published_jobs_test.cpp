#include "research/published_jobs.hpp"
#include "research/cluster_generator.hpp"
#include "research/cluster_simulation.hpp"
#include "research/cluster_study.hpp"
#include "simulate/job_summary.hpp"
#include "tests/support/small_workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace zeus::research {
namespace {

// The published traces are not part of the project; if they lie beside the checkout, the replay is compared with them.
class PublishedTraces : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path{ZEUS_SHARED_FOLDER} / "traces";
    const auto read = [&folder](const char* name) {
      std::ifstream file{folder / name, std::ios::binary};
      return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    const std::string train = read("summary_train.csv");
    if (train.empty()) {
      GTEST_SKIP() << "published traces are not beside the checkout";
    }
    train_ = trace::parse_train_trace("summary_train.csv", train);
    power_ = trace::parse_power_trace("summary_power_v100.csv", read("summary_power_v100.csv"));
  }

  trace::TrainTrace train_;
  trace::PowerTrace power_;
};

TEST_F(PublishedTraces, PolicyZeusReplaysThePublishedFigures) {
  struct Figure {
    int batch_size = 0;
    Watts limit;
    double energy = 0;
    double time = 0;
    double regret = 0;
  };
  constexpr std::array<Figure, 6> figures = {{{48, 150_W, 0.618, 0.772, 8.95},
                                              {12, 200_W, 0.816, 1.016, 1.68},
                                              {64, 175_W, 0.791, 1.084, 1.69},
                                              {360, 175_W, 0.808, 1.077, 4.57},
                                              {128, 100_W, 0.254, 0.557, 9.76},
                                              {16384, 175_W, 0.345, 0.362, 15.4}}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const simulate::Workload workload = select_published(train_, power_, published_jobs()[i]);
    const simulate::Stage stage{workload, 0.5};
    const simulate::Configuration& best = stage.optimum();
    EXPECT_EQ(workload.arms[best.arm].batch_size, figures[i].batch_size);
    EXPECT_EQ(workload.arms[best.arm].limits[best.limit].limit, figures[i].limit);
    const std::uint64_t recurrences = 2 * workload.arms.size() * workload.limits().size();
    simulate::JobSummary summary{stage, recurrences};
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      summary.add(run(stage, "zeus", seed, recurrences));
    }
    EXPECT_NEAR(summary.last_energy_ratio().mean(), figures[i].energy, 0.02) << workload.name;
    EXPECT_NEAR(summary.last_time_ratio().mean(), figures[i].time, 0.02) << workload.name;
    EXPECT_NEAR(summary.regret().mean(), figures[i].regret, 0.1 * figures[i].regret) << workload.name;
  }
}

TEST_F(PublishedTraces, LookaheadWastesLessThanHalfOfZeus) {
  double ratio = 0.0;
  for (const simulate::JobSelection& job : published_jobs()) {
    const simulate::Workload workload = select_published(train_, power_, job);
    const simulate::Stage stage{workload, 0.5};
    const std::uint64_t recurrences = 2 * workload.arms.size() * workload.limits().size();
    simulate::JobSummary zeus{stage, recurrences};
    simulate::JobSummary lookahead{stage, recurrences};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      zeus.add(run(stage, "zeus", seed, recurrences));
      lookahead.add(run(stage, "lookahead", seed, recurrences));
    }
    ratio += lookahead.expected_regret().mean() / zeus.expected_regret().mean() / 6.0;
  }
  EXPECT_LT(ratio, 0.5);
}

// The policy would ask for the limit that is missing without end.
TEST_F(PublishedTraces, AClusterDoesWithoutALimitThatOneBatchSizeLacks) {
  const std::size_t rows = power_.rows.size();
  std::erase_if(power_.rows, [](const trace::PowerRow& row) {
    return row.dataset == "librispeech" && row.batch_size == 48 && row.profile.limit == 150_W;
  });
  ASSERT_EQ(power_.rows.size(), rows - 1);
  const ClusterWorkloads all = cluster_workloads(train_, power_, 0.5);
  ClusterGenerator generator{parse_cluster_plan("jobs=1000,max=100"), all.typical_times};
  ClusterTotal total;
  for (std::uint64_t seed = 2; const auto group = generator.next(); ++seed) {
    simulate_group(all.stages[group->workload], group->jobs, 2.0, simulate::named("lookahead"), seed, total);
  }
  EXPECT_EQ(total.jobs, 1000U);
  EXPECT_EQ(total.given_up, 0U);
}

}  // namespace
}  // namespace zeus::research
