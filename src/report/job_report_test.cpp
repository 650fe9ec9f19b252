#include "report/job_report.hpp"

#include "report/job_figures.hpp"

#include "base/amount_text.hpp"
#include "records/json_value.hpp"
#include "tests/support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace zeus::report {
namespace {

using records::ArmView;
using records::JobView;
using records::JsonValue;
using records::RecurrenceView;
using records::TryOutcome;

ArmView arm(int batch_size, double epochs, Seconds epoch, int reached, int stopped) {
  ArmView view{.batch_size = batch_size, .is_default = batch_size == 256, .reached = reached, .stopped = stopped};
  for (const double limit : {100.0, 150.0, 250.0}) {
    const double slow = limit < 120.0 ? 1.25 : 1.0 + 0.05 * (limit < 200.0 ? 1.0 : 0.0);
    view.limits.push_back(
        {.limit = Watts{limit}, .epoch_time = epoch * slow, .average_power = Watts{std::min(limit, 190.0) * 0.95}});
  }
  view.expected_epochs = epochs;
  const Joules cost = 0.5 * epochs * epoch * 1.05 * Watts{142.5 + 250.0};
  view.expected_cost = cost;
  view.low_cost = 0.8 * cost;
  view.high_cost = 1.3 * cost;
  view.best_limit = Watts{150.0};
  return view;
}

void run(JobView& job, int batch_size, TryOutcome outcome, int epochs, bool opens) {
  const Seconds time = Seconds{100.0} * epochs * 64.0 / batch_size;
  const Energy energy{.value = Watts{140.0} * time, .uncertainty = Joules{30.0}};
  const Joules cost = 0.5 * energy.value + 0.5 * (Watts{250.0} * time);
  if (opens) {
    job.recurrences.push_back({.number = job.recurrences.size() + 1, .device = "1 x Tesla V100"});
  }
  RecurrenceView& recurrence = job.recurrences.back();
  ++recurrence.tries;
  recurrence.energy = *recurrence.energy + energy.value;
  recurrence.time += time;
  recurrence.cost = *recurrence.cost + cost;
  if (outcome == TryOutcome::reached) {
    recurrence.state = records::RecurrenceState::reached;
    recurrence.default_energy = Joules{90'000.0};
    recurrence.default_time = Seconds{450.0};
    recurrence.default_cost = Joules{101'250.0};
  }
  job.tries.push_back({.number = job.tries.size() + 1,
                       .recurrence = recurrence.number,
                       .batch_size = batch_size,
                       .purpose = records::TryPurpose::explore,
                       .outcome = outcome,
                       .epochs = epochs,
                       .metric = 0.9,
                       .limit = Watts{150.0},
                       .energy = energy,
                       .time = time,
                       .cost = cost,
                       .device = "1 x Tesla V100",
                       .host = "here"});
}

// Six recurrences, written by hand; one try among them was stopped.
JobView nightly() {
  JobView job;
  job.name = "nightly </script><b>";
  job.definition = {.batch_sizes = {32, 64, 128, 256},
                    .default_batch_size = 256,
                    .target = records::JobTarget{.metric = 0.9},
                    .max_epochs = 40,
                    .policy = "lookahead",
                    .device = {}};
  job.device = {.model = "Tesla V100",
                .gpus = 1,
                .max_power = Watts{250.0},
                .power_limits = {Watts{100.0}, Watts{150.0}, Watts{250.0}}};
  job.arms = {arm(32, 6.0, Seconds{100.0}, 1, 1), arm(64, 7.0, Seconds{60.0}, 3, 0),
              arm(128, 11.0, Seconds{40.0}, 1, 0), arm(256, 17.0, Seconds{35.0}, 1, 0)};
  run(job, 256, TryOutcome::reached, 17, true);
  run(job, 128, TryOutcome::reached, 11, true);
  run(job, 32, TryOutcome::stopped, 5, true);
  run(job, 64, TryOutcome::reached, 7, false);
  run(job, 64, TryOutcome::reached, 8, true);
  run(job, 64, TryOutcome::reached, 6, true);
  job.savings = records::SavingsView{.recurrences = 5,
                                     .energy = Joules{60'000.0},
                                     .energy_of_default = Joules{450'000.0},
                                     .time = Seconds{-20.0},
                                     .time_of_default = Seconds{2250.0},
                                     .cost = Joules{50'000.0},
                                     .cost_of_default = Joules{506'250.0}};
  job.savings_last = job.savings;
  job.spent = records::SpentView{.recurrences = 5};
  for (const records::RecurrenceView& one : job.recurrences) {
    job.spent.energy += one.energy.value_or(Joules{});
    job.spent.time += one.time;
    job.spent.cost += one.cost.value_or(Joules{});
  }
  job.next = {.batch_size = 64,
              .purpose = records::TryPurpose::exploit,
              .limit = Watts{150.0},
              .max_epochs = 14,
              .why = "it is the cheapest known"};
  return job;
}

// The value of an attribute in a tag.
std::string attribute(const std::string& tag, const std::string& name) {
  const std::size_t at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t from = at + name.size() + 3;
  return tag.substr(from, tag.find('"', from) - from);
}

template <typename See>
void for_tags_with(const std::string& html, const std::string& name, const See& see) {
  for (std::size_t at = html.find(" " + name + "=\""); at != std::string::npos;
       at = html.find(" " + name + "=\"", at + 1)) {
    const std::size_t open = html.rfind('<', at);
    see(html.substr(open, html.find('>', at) - open + 1));
  }
}

JsonValue embedded_data(const std::string& html) {
  const std::string opening = R"(<script type="application/json" id="job">)";
  const std::size_t from = html.find(opening) + opening.size();
  return JsonValue::parse(html.substr(from, html.find("</script>", from) - from)).value();
}

// "batch_sizes.64.reached" in the object of `zeus jobs --json`.
double lookup(const JsonValue& job, const std::string& key) {
  const std::size_t dot = key.find('.');
  const std::size_t second = key.find('.', dot + 1);
  const std::string list = key.substr(0, dot);
  if (second == std::string::npos) {
    return job[list][key.substr(dot + 1)].number().value();
  }
  const int number = std::stoi(key.substr(dot + 1, second - dot - 1));
  for (const JsonValue& member : *job[list].list()) {
    if (member[list == "tries" ? "try" : "batch_size"].whole<int>() == number) {
      const JsonValue& value = member[key.substr(second + 1)];
      return (value.object() != nullptr ? value["value"] : value).number().value();
    }
  }
  throw std::out_of_range{key};
}

// The page and the terminal show the same numbers, rounded.
TEST(JobReport, SaysWhatAllRecurrencesTookAndWhichAreNotCompared) {
  JobView job = nightly();
  job.spent = records::SpentView{.recurrences = 9,
                                 .energy = 123'456.7_J,
                                 .energy_uncertainty = 1'000_J,
                                 .time = 3600_s,
                                 .cost = 200'000_J,
                                 .energy_unknown = 1,
                                 .others = 4,
                                 .energy_of_others = 23'456.7_J,
                                 .time_of_others = 600_s,
                                 .cost_of_others = 40'000_J};
  const std::string html = job_report(job, {});
  const auto has = [&](const std::string& text) { return html.find(text) != std::string::npos; };
  EXPECT_TRUE(has(R"(data-key="spent.energy_j" data-value="123456.7">)" + to_text(123'456.7_J, 1'000_J)));
  EXPECT_TRUE(has(R"(data-key="spent.energy_of_others_j" data-value="23456.7">)"));
  EXPECT_TRUE(has("all 9 recurrences"));
  EXPECT_TRUE(has("the 4 that are not compared"));
  EXPECT_TRUE(has("the 5 of 9 recurrences that are compared"));
  EXPECT_TRUE(has("A part of the energy of one recurrence is unknown"));
  EXPECT_FALSE(has("including all exploration"));
  job.savings.reset();
  job.savings_last.reset();
  EXPECT_NE(job_report(job, {}).find("data-key=\"spent.energy_j\""), std::string::npos);
}

TEST(JobReport, MatchesTheReviewedPage) {
  test::expect_golden("report/job.html", job_report(nightly(), {.remarks = {"It is made up."},
                                                                .happened = {{.x = 3, .label = "the data changed"}}}));
}

TEST(JobReport, ContainsTheJobAsZeusJobsPrintsItWhateverItsName) {
  const JobView job = nightly();
  EXPECT_EQ(embedded_data(job_report(job)), JsonValue::parse(records::to_json(job)).value());
  const std::string html = job_report(job);
  const std::size_t ends = html.find("</script>");
  EXPECT_EQ(html.find("</script>", ends + 1), std::string::npos);
}

TEST(JobReport, ItsTablesHoldTheNumbersThatZeusJobsPrints) {
  const std::string html = job_report(nightly());
  const JsonValue job = JsonValue::parse(records::to_json(nightly())).value();
  std::size_t compared = 0;
  for_tags_with(html, "data-key", [&](const std::string& tag) {
    const std::string key = attribute(tag, "data-key");
    const double value = std::stod(attribute(tag, "data-value"));
    if (key.find("carbon") == std::string::npos) {
      EXPECT_EQ(value, lookup(job, key)) << key;
      ++compared;
    }
  });
  EXPECT_EQ(compared, 6U + 6U + 4U * 5U + 6U * 7U + 3U);
}

TEST(JobReport, ShowsOnlyTheMeasuredDefaultIfItWasReallyRun) {
  const JobView job = nightly();
  records::SavingsView all = *job.savings;
  all.energy = 0.25 * all.energy_of_default;
  all.energy_uncertainty.reset();
  const std::string html = job_report(job, {.remarks = {}, .happened = {}, .really_run_default = {all, all}});
  EXPECT_EQ(html.find("data-key=\"savings"), std::string::npos);
  EXPECT_THAT(html, testing::HasSubstr("25.0 % less"));
  EXPECT_THAT(html, testing::HasSubstr("It was run beside each recurrence."));
  EXPECT_EQ(html.find("computed from its own runs and profiles"), std::string::npos);
}

TEST(JobReport, DifferencesWithinTheirIntervalAreNotCalledSavings) {
  JobView job = nightly();
  job.savings_last->energy = 0.1 * job.savings_last->energy_of_default;
  job.savings_last->energy_uncertainty = 0.032 * job.savings_last->energy_of_default;
  EXPECT_THAT(job_report(job), testing::HasSubstr("10 ± 4 % less"));
  job.savings_last->energy_uncertainty = 0.3 * job.savings_last->energy_of_default;
  const std::string html = job_report(job);
  EXPECT_THAT(html, testing::HasSubstr("no clear difference (± 30 %)"));
  EXPECT_EQ(html.find("10 ± "), std::string::npos);
  EXPECT_THAT(html, testing::HasSubstr("CO2 equivalents saved so far"));
  job.savings->energy_uncertainty = 2.0 * job.savings->energy;
  EXPECT_EQ(job_report(job).find("CO2 equivalents saved so far"), std::string::npos);
}

TEST(JobReport, ItsCarbonIsThatOfTheEnergyAtTheStatedIntensity) {
  const std::string html =
      job_report(nightly(), {.carbon = {.grams_per_kilowatt_hour = 100.0, .source = "a hydro plant"}});
  EXPECT_THAT(html, testing::HasSubstr("CO2 at 100 g per kWh, a hydro plant"));
  for_tags_with(html, "data-key", [&](const std::string& tag) {
    if (attribute(tag, "data-key") == "savings.carbon_g") {
      EXPECT_NEAR(std::stod(attribute(tag, "data-value")), 60'000.0 / 3.6e6 * 100.0, 1e-12);
    }
  });
}

TEST(JobReport, WithAPriceWhatWasSavedIsMoneyToo) {
  EXPECT_EQ(job_report(nightly()).find("per kWh</th>"), std::string::npos);
  JobReportOptions options;
  options.price = records::parse_price("0.36EUR");
  const std::string html = job_report(nightly(), options);
  EXPECT_THAT(html, testing::HasSubstr("energy at 0.36 EUR per kWh</th>"));
  std::size_t found = 0;
  for_tags_with(html, "data-key", [&](const std::string& tag) {
    if (attribute(tag, "data-key") == "savings.price") {
      EXPECT_NEAR(std::stod(attribute(tag, "data-value")), 60'000.0 / 3.6e6 * 0.36, 1e-12);
      ++found;
    }
  });
  EXPECT_EQ(found, 1U);
}

TEST(JobReport, ItsFiguresDrawTheNumbersThatZeusJobsPrints) {
  const std::string html = job_report(nightly());
  const JsonValue job = JsonValue::parse(records::to_json(nightly())).value();
  std::map<std::string, std::size_t> points;
  const double kilo = 1e-3;
  for_tags_with(html, "data-series", [&](const std::string& tag) {
    const std::string series = attribute(tag, "data-series");
    const std::string kind = series.substr(0, series.find('.'));
    const double x = std::stod(attribute(tag, "data-x"));
    const double y = std::stod(attribute(tag, "data-y"));
    ++points[kind];
    if (kind == "belief") {
      const std::string key = "batch_sizes." + std::to_string(static_cast<int>(x));
      EXPECT_DOUBLE_EQ(y, lookup(job, key + ".expected_cost_j") * kilo);
      EXPECT_DOUBLE_EQ(std::stod(attribute(tag, "data-low")), lookup(job, key + ".low_cost_j") * kilo);
      EXPECT_DOUBLE_EQ(std::stod(attribute(tag, "data-high")), lookup(job, key + ".high_cost_j") * kilo);
    } else if (series == "cost.reached") {
      EXPECT_DOUBLE_EQ(y, job["recurrences"][static_cast<std::size_t>(x) - 1]["cost_j"].number().value() * kilo);
    } else if (series == "cost.default") {
      EXPECT_DOUBLE_EQ(y,
                       job["recurrences"][static_cast<std::size_t>(x) - 1]["default_cost_j"].number().value() * kilo);
    } else if (kind == "epoch_energy" || kind == "epoch_time") {
      for (const JsonValue& one : *job["batch_sizes"].list()) {
        if (std::to_string(one["batch_size"].whole<int>().value()) == series.substr(kind.size() + 1)) {
          for (const JsonValue& limit : *one["limits"].list()) {
            if (limit["limit_w"].number() == x) {
              const double time = limit["epoch_time_s"].number().value();
              EXPECT_DOUBLE_EQ(
                  y, kind == "epoch_time" ? time / 60.0 : time * limit["average_power_w"].number().value() * kilo);
            }
          }
        }
      }
    }
  });
  EXPECT_EQ(points["belief"], 4U);
  EXPECT_EQ(points["cost"], 10U);
  EXPECT_EQ(points["choice"], 6U);
  EXPECT_EQ(points["limit"], 6U);
  EXPECT_EQ(points["epoch_energy"], 12U);
  EXPECT_EQ(points["epoch_time"], 12U);
  EXPECT_EQ(points["run"], 12U + 2U);
}

TEST(JobReport, MarksTheDefaultAndWhatRunsNextAmongTimesAndEnergies) {
  const std::vector<RunPoint> points = run_points(nightly());
  ASSERT_EQ(points.size(), 12U);
  int chosen = 0;
  for (const RunPoint& point : points) {
    EXPECT_EQ(point.is_default, point.batch_size == 256 && point.limit == Watts{250.0});
    EXPECT_EQ(point.chosen, point.batch_size == 64 && point.limit == Watts{150.0});
    chosen += point.chosen ? 1 : 0;
    for (const RunPoint& other : points) {
      EXPECT_FALSE(point.on_front && other.energy < point.energy && other.time < point.time);
    }
  }
  EXPECT_EQ(chosen, 1);
}

TEST(JobReport, NamesWhatIsUnknownOfAJobThatNeverRan) {
  JobView job = nightly();
  job.recurrences.clear();
  job.tries.clear();
  job.savings.reset();
  job.savings_last.reset();
  job.savings_unknown = "the default was never measured";
  for (ArmView& one : job.arms) {
    one = {.batch_size = one.batch_size, .is_default = one.is_default};
  }
  job.next = {.kind = records::NextKind::profile,
              .batch_size = 256,
              .profiles = {Watts{100.0}, Watts{250.0}},
              .why = "nothing is known"};
  const std::string html = job_report(job);
  EXPECT_THAT(html, testing::HasSubstr("Not known yet: the default was never measured"));
  EXPECT_THAT(html, testing::HasSubstr("Measure 2 power limits at batch size 256"));
  EXPECT_THAT(html, testing::Not(testing::HasSubstr("nan")));
  EXPECT_EQ(embedded_data(html), JsonValue::parse(records::to_json(job)).value());
}

TEST(JobReport, IsSelfContained) {
  const std::string html = job_report(nightly());
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_THAT(html, testing::Not(testing::HasSubstr(outside)));
  }
}

}  // namespace
}  // namespace zeus::report
