#include "protocol/metrics.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace zeus::protocol {

namespace {

bool is_name(std::string_view name, bool may_have_colon) {
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c == ':' && may_have_colon) ||
           (c >= '0' && c <= '9');
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, fits);
}

Error refused(const Metric& metric, std::string_view why) {
  return Error{ErrorKind::invalid_argument, fmt::format("the metric '{}' {}", metric.name, why)};
}

Error misused(const Metric& metric, std::string_view why) {
  return Error{ErrorKind::internal, fmt::format("the metric '{}' {}", metric.name, why)};
}

void check(const Metric& metric) {
  if (!is_name(metric.name, true)) {
    throw refused(metric, "has a name that Prometheus does not accept");
  }
  std::string_view stem = metric.name;
  if (metric.type == MetricType::counter) {
    if (!stem.ends_with("_total")) {
      throw refused(metric, "is a counter, but its name does not end in '_total'");
    }
    stem.remove_suffix(std::string_view{"_total"}.size());
  }
  if (!metric.unit.empty() && !stem.ends_with(fmt::format("_{}", metric.unit))) {
    throw refused(metric, fmt::format("does not end in its unit, '{}'", metric.unit));
  }
  std::set<std::string_view> labels;
  for (const std::string_view label : metric.labels) {
    if (!is_name(label, false) || label.starts_with("__") || label == "le" || !labels.insert(label).second) {
      throw refused(metric, fmt::format("cannot have the label '{}'", label));
    }
  }
  const bool ascend = std::ranges::adjacent_find(metric.buckets, std::greater_equal<>{}) == metric.buckets.end();
  if ((metric.type == MetricType::histogram) == metric.buckets.empty() || !ascend ||
      !std::ranges::all_of(metric.buckets, [](double bound) { return std::isfinite(bound); })) {
    throw refused(metric, "must have ascending buckets where it is a histogram, and none otherwise");
  }
}

std::string_view word_of(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      break;
  }
  return "histogram";
}

// The shortest form that reads back as the same number.
std::string number_text(double number) {
  if (std::isnan(number)) {
    return "NaN";
  }
  if (std::isinf(number)) {
    return number > 0.0 ? "+Inf" : "-Inf";
  }
  return fmt::format("{}", number);
}

// Escapes a help text or, if `quoted`, the value of a label.
std::string escaped(std::string_view text, bool quoted) {
  std::string plain;
  for (const char c : text) {
    if (c == '\\') {
      plain += "\\\\";
    } else if (c == '\n') {
      plain += "\\n";
    } else if (c == '"' && quoted) {
      plain += "\\\"";
    } else {
      plain += c;
    }
  }
  return plain;
}

// {gpu="0",le="0.1"}, or nothing without labels.
std::string labels_text(const Metric& metric, const Metrics::Labels& labels, std::string_view bound = {}) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value, true));
  };
  for (std::size_t i = 0; i < labels.size(); ++i) {
    add(metric.labels[i], labels[i]);
  }
  if (!bound.empty()) {
    add("le", bound);
  }
  return text.empty() ? text : "{" + text + "}";
}

}  // namespace

Metrics::Metrics(const std::vector<const Metric*>& catalogue) {
  std::set<std::string_view> names;
  for (const Metric* const metric : catalogue) {
    check(*metric);
    if (!names.insert(metric->name).second) {
      throw refused(*metric, "is there twice");
    }
    families_.push_back({.metric = metric, .series = {}});
  }
}

Metrics::Family& Metrics::family(const Metric& metric, const Labels* labels) {
  const auto found = std::ranges::find(families_, &metric, &Family::metric);
  if (found == families_.end()) {
    throw misused(metric, "is not in the catalogue");
  }
  if (labels != nullptr && labels->size() != metric.labels.size()) {
    throw misused(metric, fmt::format("has {} labels, not {}", metric.labels.size(), labels->size()));
  }
  return *found;
}

void Metrics::set(const Metric& metric, const Labels& labels, double value) {
  Family& its = family(metric, &labels);
  if (metric.type == MetricType::histogram) {
    throw misused(metric, "is a histogram, which cannot be set");
  }
  its.series[labels].value = value;
}

void Metrics::add(const Metric& metric, const Labels& labels, double amount) {
  Family& its = family(metric, &labels);
  if (metric.type == MetricType::histogram) {
    throw misused(metric, "is a histogram, which cannot be added to");
  }
  its.series[labels].value += amount;
}

void Metrics::observe(const Metric& metric, const Labels& labels, double value) {
  Family& its = family(metric, &labels);
  if (metric.type != MetricType::histogram) {
    throw misused(metric, "is no histogram");
  }
  Series& series = its.series[labels];
  series.counts.resize(metric.buckets.size() + 1);
  const auto bucket = std::ranges::lower_bound(metric.buckets, value);
  ++series.counts[static_cast<std::size_t>(std::distance(metric.buckets.begin(), bucket))];
  series.value += value;
}

void Metrics::forget(const Metric& metric, const Labels& labels) {
  family(metric, &labels).series.erase(labels);
}

void Metrics::forget_all(const Metric& metric) {
  family(metric, nullptr).series.clear();
}

std::string Metrics::text() const {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const auto& [metric, series] : families_) {
    if (series.empty()) {
      continue;
    }
    fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", metric->name, escaped(metric->help, false), metric->name,
                   word_of(metric->type));
    for (const auto& [labels, one] : series) {
      if (metric->type != MetricType::histogram) {
        fmt::format_to(out, "{}{} {}\n", metric->name, labels_text(*metric, labels), number_text(one.value));
        continue;
      }
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < one.counts.size(); ++i) {
        count += one.counts[i];
        const std::string bound = i < metric->buckets.size() ? number_text(metric->buckets[i]) : "+Inf";
        fmt::format_to(out, "{}_bucket{} {}\n", metric->name, labels_text(*metric, labels, bound), count);
      }
      const std::string plain = labels_text(*metric, labels);
      fmt::format_to(out, "{}_sum{} {}\n{}_count{} {}\n", metric->name, plain, number_text(one.value), metric->name,
                     plain, count);
    }
  }
  return text;
}

}  // namespace zeus::protocol
