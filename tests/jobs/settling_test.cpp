// When a job is said to have settled, and how often that is right: on drawn jobs that do not change, played by the
// simulator with the policy of live jobs.

#include "jobs/settling.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

namespace zeus::jobs {
namespace {

records::JobView view_of_recurrences(const std::vector<int>& batch_sizes) {
  records::JobView job;
  for (std::size_t number = 1; number <= batch_sizes.size(); ++number) {
    job.recurrences.push_back({.number = number, .state = records::RecurrenceState::reached, .tries = 1});
    job.tries.push_back({.number = number, .recurrence = number, .batch_size = batch_sizes[number - 1]});
  }
  job.arms = {{.batch_size = 32, .expected_cost = 90_J}, {.batch_size = 64, .expected_cost = 80_J}};
  job.next.batch_size = 64;
  return job;
}

TEST(Settling, TakesFiveRecurrencesInARow) {
  EXPECT_EQ(settled_on(view_of_recurrences({32, 64, 64, 64, 64, 64})), 64);
  EXPECT_FALSE(settled_on(view_of_recurrences({64, 64, 64, 64})));
  EXPECT_FALSE(settled_on(view_of_recurrences({64, 64, 64, 32, 64})));
}

TEST(Settling, IsWithdrawnWithEachOfItsReasons) {
  const records::JobView settled = view_of_recurrences({64, 64, 64, 64, 64});
  records::JobView job = settled;
  job.next.batch_size = 32;
  EXPECT_FALSE(settled_on(job)) << "another is next";
  job = settled;
  job.arms[0].expected_cost = 79_J;
  EXPECT_FALSE(settled_on(job)) << "another is believed to be cheaper";
  job = settled;
  job.recurrences[2].tries = 2;
  EXPECT_FALSE(settled_on(job)) << "a try has failed";
  job = settled;
  job.recurrences.back().state = records::RecurrenceState::running;
  EXPECT_FALSE(settled_on(job)) << "the last one is not over";
  job = settled;
  job.next.kind = records::NextKind::give_up;
  EXPECT_FALSE(settled_on(job));
}

TEST(Settling, NeedsNoBeliefFromAPolicyThatHasNone) {
  records::JobView job = view_of_recurrences({64, 64, 64, 64, 64});
  job.arms[0].expected_cost.reset();
  job.arms[1].expected_cost.reset();
  EXPECT_EQ(settled_on(job), 64);
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
    course.reached.push_back(ended->batch_size);
    const auto beliefs = job.policy().beliefs(job.profiles());
    view.arms.clear();
    for (std::size_t arm = 0; arm < spec.arms(); ++arm) {
      view.arms.push_back({.batch_size = spec.batch_sizes[arm],
                           .expected_cost = beliefs[arm] ? std::optional{beliefs[arm]->expected} : std::nullopt});
    }
    const optimize::Action next = job.next(view.recurrences.size(), view.tries.size());
    view.next.kind =
        std::holds_alternative<records::FailedTries>(next) ? records::NextKind::give_up : records::NextKind::run;
    if (const auto* const run = std::get_if<records::TryPlan>(&next)) {
      view.next.batch_size = run->batch_size;
    } else if (const auto* const profile = std::get_if<records::ProfileAsked>(&next)) {
      view.next.batch_size = profile->batch_size;
    }
    if (!course.settled && settled_on(view)) {
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
