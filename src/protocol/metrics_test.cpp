#include "protocol/metrics.hpp"

#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace zeus::protocol {
namespace {

using testing::HasSubstr;

constexpr std::array gpu_labels{std::string_view{"gpu"}, std::string_view{"name"}};
constexpr std::array route_labels{std::string_view{"route"}};
constexpr std::array buckets{0.001, 0.01, 0.1, 1.0};

constexpr Metric joules{.name = "test_gpu_energy_joules_total",
                        .help = "Energy of a GPU since its driver was loaded, with \\ and\nsuch",
                        .type = MetricType::counter,
                        .unit = "joules",
                        .labels = gpu_labels};
constexpr Metric watts{.name = "test_gpu_power_watts",
                       .help = "Power of a GPU",
                       .type = MetricType::gauge,
                       .unit = "watts",
                       .labels = gpu_labels};
constexpr Metric leases{.name = "test_leases", .help = "Leases that are held"};
constexpr Metric requests{.name = "test_request_seconds",
                          .help = "Time of requests",
                          .type = MetricType::histogram,
                          .unit = "seconds",
                          .labels = route_labels,
                          .buckets = buckets};

std::vector<const Metric*> catalogue() {
  return {&joules, &watts, &leases, &requests};
}

TEST(MetricsTest, AreShownInTheOrderOfTheCatalogueWithTheirEscapes) {
  Metrics metrics{catalogue()};
  metrics.observe(requests, {"/time"}, 0.0005);
  metrics.observe(requests, {"/time"}, 0.01);
  metrics.observe(requests, {"/time"}, 7.5);
  metrics.add(leases, {});
  metrics.add(leases, {}, 2.0);
  metrics.set(joules, {"1", "a \"card\" \\ of\ntwo lines"}, 123456789.125);
  metrics.set(joules, {"0", "plain"}, 1e300);
  metrics.set(watts, {"0", "plain"}, std::nan(""));
  metrics.set(watts, {"1", "plain"}, -std::numeric_limits<double>::infinity());
  test::expect_golden("protocol/metrics.txt", metrics.text());
}

TEST(MetricsTest, WithoutAValueThereIsNothing) {
  Metrics metrics{catalogue()};
  EXPECT_EQ(metrics.text(), "");
  metrics.set(watts, {"0", "plain"}, 1.0);
  metrics.set(watts, {"1", "plain"}, 2.0);
  metrics.forget(watts, {"0", "plain"});
  EXPECT_THAT(metrics.text(), HasSubstr("test_gpu_power_watts{gpu=\"1\",name=\"plain\"} 2\n"));
  EXPECT_THAT(metrics.text(), testing::Not(HasSubstr("gpu=\"0\"")));
  metrics.forget_all(watts);
  EXPECT_EQ(metrics.text(), "");
}

TEST(MetricsTest, ABucketHoldsWhatIsAtMostItsBound) {
  Metrics metrics{{&requests}};
  metrics.observe(requests, {"x"}, 0.001);
  metrics.observe(requests, {"x"}, 0.0011);
  EXPECT_THAT(metrics.text(), HasSubstr("le=\"0.001\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("le=\"0.01\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("le=\"+Inf\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("test_request_seconds_count{route=\"x\"} 2\n"));
}

TEST(MetricsTest, ACatalogueThatPrometheusWouldRefuseIsRefused) {
  const auto expect_refused = [](const Metric& metric) { EXPECT_THROW(Metrics{{&metric}}, Error) << metric.name; };
  expect_refused({.name = "9lives", .help = ""});
  expect_refused({.name = "", .help = ""});
  expect_refused({.name = "a-b", .help = ""});
  expect_refused({.name = "power", .help = "", .unit = "watts"});
  expect_refused({.name = "seconds", .help = "", .type = MetricType::counter});
  expect_refused({.name = "x_total_joules", .help = "", .type = MetricType::counter, .unit = "joules"});
  expect_refused({.name = "x", .help = "", .type = MetricType::histogram});
  expect_refused({.name = "x", .help = "", .buckets = buckets});
  constexpr std::array falling{2.0, 1.0};
  expect_refused({.name = "x", .help = "", .type = MetricType::histogram, .buckets = falling});
  constexpr std::array le{std::string_view{"le"}};
  expect_refused({.name = "x", .help = "", .labels = le});
  constexpr std::array twice{std::string_view{"a"}, std::string_view{"a"}};
  expect_refused({.name = "x", .help = "", .labels = twice});
  EXPECT_THROW((Metrics{{&watts, &watts}}), Error);
}

TEST(MetricsTest, AMetricIsUsedAsItWasDeclared) {
  Metrics metrics{{&watts, &requests}};
  EXPECT_THROW(metrics.set(joules, {"0", "x"}, 1.0), Error);
  EXPECT_THROW(metrics.set(watts, {"0"}, 1.0), Error);
  EXPECT_THROW(metrics.observe(watts, {"0", "x"}, 1.0), Error);
  EXPECT_THROW(metrics.set(requests, {"x"}, 1.0), Error);
}

}  // namespace
}  // namespace zeus::protocol
