// Numbers for Prometheus, in its text form (version 0.0.4), from a catalogue that declares each metric once. It does
// not know what is counted. One thread at a time.
//
//   inline constexpr std::array gpu{std::string_view{"gpu"}};
//   inline constexpr Metric joules{.name = "zeusd_gpu_energy_joules_total", .help = "Energy of a GPU",
//                                  .type = MetricType::counter, .unit = "joules", .labels = gpu};
//   Metrics metrics{{&joules}};
//   metrics.set(joules, {"0"}, 12.5);
//   metrics.text();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::protocol {

inline constexpr std::string_view metrics_type = "text/plain; version=0.0.4; charset=utf-8";

enum class MetricType { counter, gauge, histogram };

// One metric, of static storage.
struct Metric {
  std::string_view name;  // ends in its unit; a counter's also in "_total"
  std::string_view help;
  MetricType type = MetricType::gauge;
  std::string_view unit = {};  // "joules", "watts", "seconds"; empty for plain counts
  std::span<const std::string_view> labels = {};
  std::span<const double> buckets = {};  // of a histogram: upper bounds, ascending, without the infinite one
};

class Metrics {
 public:
  // The values of a label set, in the order in which the metric declares its labels.
  using Labels = std::vector<std::string>;

  // In the order in which they will be shown. Throws an invalid_argument Error for what Prometheus would refuse: a name
  // twice or malformed, a unit that does not end the name, buckets that do not ascend.
  explicit Metrics(const std::vector<const Metric*>& catalogue);

  // All of these need a metric of the catalogue, and as many labels as it has; otherwise they throw an internal Error.

  void set(const Metric& metric, const Labels& labels, double value);  // also for a counter that is counted elsewhere
  void add(const Metric& metric, const Labels& labels, double amount = 1.0);
  void observe(const Metric& metric, const Labels& labels, double value);  // of a histogram
  // Removes what no longer exists: a GPU that has gone, a holder that has ended.
  void forget(const Metric& metric, const Labels& labels);
  void forget_all(const Metric& metric);

  // A metric without a value has no lines. Label sets are in ascending order.
  [[nodiscard]] std::string text() const;

 private:
  struct Series {
    double value = 0.0;                 // of a histogram, the sum
    std::vector<std::uint64_t> counts;  // of a histogram: in each bucket, and beyond the last
  };
  struct Family {
    const Metric* metric;
    std::map<Labels, Series> series;
  };

  Family& family(const Metric& metric, const Labels* labels);

  std::vector<Family> families_;
};

}  // namespace zeus::protocol
