#include "records/job_view.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::records {
namespace {

JobView view_with_all_there_is() {
  const JobDevice devices{.model = "NVIDIA A100", .gpus = 2, .max_power = Watts{800.0}, .power_limits = {Watts{100.0}}};
  JobView view{.name = "nightly/\"a\"",
               .definition = {.batch_sizes = {32, 64}, .default_batch_size = 64, .max_epochs = 9, .device = devices},
               .device = devices,
               .created = WallTime{1'795'284'000'000'000},
               .entries = 7};
  RecurrenceView reached{.number = 1, .state = RecurrenceState::reached, .device = "2 x NVIDIA A100", .tries = 1};
  reached.default_energy = Joules{5.0};
  reached.default_energy_uncertainty = Joules{0.5};
  reached.default_time = Seconds{2.0};
  reached.default_time_uncertainty = Seconds{0.25};
  reached.default_cost = Joules{6.0};
  reached.default_cost_uncertainty = Joules{0.75};
  reached.default_unknown.clear();
  RecurrenceView unknown{
      .number = 2, .state = RecurrenceState::given_up, .device = "2 x NVIDIA A100", .reason = "gone"};
  unknown.energy.reset();
  unknown.uncertainty.reset();
  unknown.cost.reset();
  unknown.energy_unknown = "the counter went back";
  view.recurrences = {reached, unknown};
  view.tries = {{.number = 1,
                 .recurrence = 1,
                 .batch_size = 64,
                 .outcome = TryOutcome::reached,
                 .metric = 0.25,
                 .started = WallTime{1'795'284'001'000'000},
                 .ended = WallTime{1'795'284'009'000'000}},
                {.number = 2, .recurrence = 2, .batch_size = 32, .started = WallTime{1'795'284'010'000'000}}};
  view.arms = {{.batch_size = 32}, {.batch_size = 64, .is_default = true, .reached = 1}};
  view.next.why = "it is the default";
  view.savings_unknown = "nothing reached";
  view.spent = SpentView{.recurrences = 2, .energy = 3_J, .energy_uncertainty = 1_J, .time = 4_s, .others = 2};
  return view;
}

TEST(JobViewJson, IsReadBackToTheSameJson) {
  const std::string json = to_json(view_with_all_there_is());
  EXPECT_EQ(to_json(job_view_from_json(json)), json);
}

TEST(JobViewJson, KeepsTheReasonForAMissingFigure) {
  const JobView back = job_view_from_json(to_json(view_with_all_there_is()));
  EXPECT_EQ(back.recurrences.at(0).default_unknown, "");
  EXPECT_EQ(back.recurrences.at(1).default_unknown, "the recurrence did not reach");
  EXPECT_EQ(back.recurrences.at(1).energy_unknown, "the counter went back");
  EXPECT_EQ(back.savings_unknown, "nothing reached");
}

TEST(JobViewJson, ThatIsNoneIsRefused) {
  for (const std::string text : {"", "{}", "[]", R"({"name":"x"})"}) {
    EXPECT_THROW(job_view_from_json(text), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::records
