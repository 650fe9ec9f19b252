// When a job is said to have settled, and how often that is right: on drawn jobs that do not change, played by the
// simulator with the policy of live jobs.

#include "jobs/settling.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "optimize/batch_size/policy.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_view.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"
#include "tests/support/job_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::jobs {
namespace {

// Runs these batch sizes, one for each try that has ended so far, and the last one from then on.
class ScriptedPolicy final : public optimize::Policy {
 public:
  explicit ScriptedPolicy(std::vector<std::size_t> arms) : arms_{std::move(arms)} {}

  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<ScriptedPolicy>(*this); }
  void apply(const records::JobEvent& event, const optimize::ProfileBook& /*profiles*/) override {
    ended_ += std::holds_alternative<records::TryEnded>(event) ? 1 : 0;
  }
  [[nodiscard]] optimize::Decision decide(const optimize::Question& /*question*/,
                                          const optimize::ProfileBook& /*profiles*/) const override {
    return optimize::RunTry{.arm = arms_[std::min(ended_, arms_.size() - 1)], .limit = {}, .max_epochs = {}};
  }
  [[nodiscard]] std::vector<std::optional<optimize::CostBelief>> beliefs(
      const optimize::ProfileBook& /*profiles*/) const override {
    return {};
  }
  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter& writer) const override { writer(ended_); }
  void restore(StateReader& reader) override { reader(ended_); }

 private:
  std::vector<std::size_t> arms_;
  std::size_t ended_ = 0;
};

// The last recurrences of a job with the batch sizes 32 and 64, and what its policy will run next.
struct Shown {
  records::JobView view;
  std::vector<std::size_t> next = {1};

  [[nodiscard]] std::optional<int> settled() const {
    return settled_on(view, {test::energy_job({32, 64}, 64), std::make_unique<ScriptedPolicy>(next)});
  }
};

Shown shown(const std::vector<int>& batch_sizes) {
  Shown job;
  for (std::size_t number = 1; number <= batch_sizes.size(); ++number) {
    job.view.recurrences.push_back({.number = number, .state = records::RecurrenceState::reached, .tries = 1});
    job.view.tries.push_back(
        {.number = number, .recurrence = number, .batch_size = batch_sizes[number - 1], .epochs = 3});
  }
  job.view.arms = {{.batch_size = 32, .expected_cost = 90_J}, {.batch_size = 64, .expected_cost = 80_J}};
  return job;
}

TEST(Settling, TakesFiveRecurrencesInARow) {
  EXPECT_EQ(shown({32, 64, 64, 64, 64, 64}).settled(), 64);
  EXPECT_FALSE(shown({64, 64, 64, 64}).settled());
  EXPECT_FALSE(shown({64, 64, 64, 32, 64}).settled());
}

TEST(Settling, IsWithdrawnWithEachOfItsReasons) {
  Shown job = shown({64, 64, 64, 64, 64});
  job.next = {0};
  EXPECT_FALSE(job.settled()) << "another is next";
  job.next = {1, 0};
  EXPECT_FALSE(job.settled()) << "one more bad recurrence would change it";
  job.next = {1, 1, 0};
  EXPECT_FALSE(job.settled()) << "two more bad recurrences would change it";
  job.next = {1, 1, 1, 0};
  EXPECT_TRUE(job.settled());
  job.view.arms[0].expected_cost = 79_J;
  EXPECT_FALSE(job.settled()) << "another is believed to be cheaper";
  job = shown({64, 64, 64, 64, 64});
  job.view.recurrences[2].tries = 2;
  EXPECT_FALSE(job.settled()) << "a try has failed";
  job = shown({64, 64, 64, 64, 64});
  job.view.recurrences.back().state = records::RecurrenceState::running;
  EXPECT_FALSE(job.settled()) << "the last one is not over";
}

TEST(Settling, NeedsNoBeliefFromAPolicyThatHasNone) {
  Shown job = shown({64, 64, 64, 64, 64});
  job.view.arms[0].expected_cost.reset();
  job.view.arms[1].expected_cost.reset();
  EXPECT_EQ(job.settled(), 64);
}

// Epochs bend over the batch sizes around a drawn best one and scatter; large batches make quicker epochs.
simulate::Workload drawn_job(Random& draw) {
  simulate::Workload job{.name = "drawn", .max_epochs = 400, .max_limit = 250_W, .max_power = 250_W};
  const std::size_t arms = 4 + draw.below(5);
  const double best = draw.uniform(0.0, static_cast<double>(arms - 1));
  const double bend = draw.uniform(0.02, 0.3);
  const double fixed = draw.uniform(0.2, 0.8);
  const double least = draw.uniform(8.0, 40.0);
  const double scatter = draw.uniform(0.0, 0.15);
  for (std::size_t arm = 0; arm < arms; ++arm) {
    const double off = static_cast<double>(arm) - best;
    const Seconds epoch{100.0 * (fixed * std::exp2(-static_cast<double>(arm)) + 1.0 - fixed)};
    simulate::WorkloadArm one{.batch_size = 8 << arm, .limits = {}, .runs = {}};
    for (const auto& [limit, slower, power] :
         {std::tuple{100_W, 1.5, 98_W}, std::tuple{175_W, 1.1, 160_W}, std::tuple{250_W, 1.0, 215_W}}) {
      one.limits.push_back({.limit = limit, .epoch_time = epoch * slower, .average_power = power});
    }
    for (int run = 0; run < 8; ++run) {
      const double luck = portable::exp(scatter * draw.normal());
      one.runs.emplace_back(std::max(1, static_cast<int>(std::lround(least * (1.0 + bend * off * off) * luck))));
    }
    std::ranges::sort(one.runs);
    job.arms.push_back(one);
  }
  job.default_batch_size = 8 << draw.below(arms);
  return job;
}

// The batch size that reached in each recurrence, and after how many of them the job is first said to have settled.
struct Course {
  std::vector<int> reached;
  std::optional<std::size_t> settled;
};

Course course_of(const simulate::Workload& workload, std::uint64_t seed) {
  const simulate::Stage stage{workload, 0.5};
  const std::array<simulate::Phase, 1> phases = {simulate::Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  simulate::SimulationOptions options{.recurrences = 60};
  options.live = true;
  const simulate::PolicyFactory lookahead = [](const optimize::JobSpec& spec) {
    return optimize::make_policy("lookahead", spec);
  };
  const optimize::JobSpec spec = simulate::job_spec(stage, options, seed);
  optimize::RecurringJob job{spec, lookahead(spec)};
  records::JobView view;
  Course course;
  for (const records::JobEvent& event : simulate::simulate_job(phases, options, lookahead, seed, true).events) {
    job.apply(event);
    if (const auto* const submitted = std::get_if<records::TrySubmitted>(&event)) {
      if (view.recurrences.size() <= submitted->recurrence) {
        view.recurrences.push_back({.number = submitted->recurrence + 1});
      }
      ++view.recurrences.back().tries;
      view.tries.push_back({.number = submitted->try_number + 1,
                            .recurrence = submitted->recurrence + 1,
                            .batch_size = submitted->plan.batch_size});
    }
    const auto* const ended = std::get_if<records::TryEnded>(&event);
    if (ended == nullptr || !records::reached(ended->outcome)) {
      continue;
    }
    view.recurrences.back().state = records::RecurrenceState::reached;
    view.tries.back().epochs = ended->epochs;
    view.tries.back().energy = Energy{.value = ended->energy};
    view.tries.back().time = ended->time;
    course.reached.push_back(ended->batch_size);
    const auto beliefs = job.policy().beliefs(job.profiles());
    view.arms.clear();
    for (std::size_t arm = 0; arm < spec.arms(); ++arm) {
      view.arms.push_back({.batch_size = spec.batch_sizes[arm],
                           .expected_cost = beliefs[arm] ? std::optional{beliefs[arm]->expected} : std::nullopt});
    }
    if (!course.settled && settled_on(view, job)) {
      course.settled = course.reached.size();
    }
  }
  return course;
}

TEST(Settling, MostJobsThatDoNotChangeSettleAndStaySettled) {
  constexpr int jobs = 200;
  int settled = 0;
  int followed = 0;
  int alike = 0;
  for (std::uint64_t seed = 1; seed <= jobs; ++seed) {
    Random draw{seed};
    const Course course = course_of(drawn_job(draw), seed);
    if (!course.settled || *course.settled > 40) {
      continue;
    }
    ++settled;
    const int batch_size = course.reached[*course.settled - 1];
    for (std::size_t later = *course.settled; later < std::min(*course.settled + 10, course.reached.size()); ++later) {
      ++followed;
      alike += course.reached[later] == batch_size ? 1 : 0;
    }
  }
  RecordProperty("settled", settled);
  RecordProperty("alike_of_a_thousand", 1000 * alike / followed);
  EXPECT_GE(settled, jobs * 9 / 10);
  EXPECT_GE(alike, followed * 9 / 10);
}

}  // namespace
}  // namespace zeus::jobs
