#include "research/slice_trace.hpp"

#include "trace/csv_reader.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace zeus::research {

namespace {

constexpr int most_slices = 10'000;
constexpr int largest_slice_batch = 1'000'000'000;
constexpr int most_slice_epochs = 1'000'000;

std::optional<int> epoch_of(const trace::CsvReader& reader, std::size_t column) {
  return reader.text(column).empty() ? std::nullopt : std::optional{reader.integer(column, 1, most_slice_epochs)};
}

Error lacks(const std::string& name, const std::string& what) {
  return Error{ErrorKind::corrupt_data, fmt::format("{}: {}", name, what), "train each slice at each batch size"};
}

}  // namespace

SliceTrace parse_slice_trace(std::string name, std::string_view text) {
  trace::CsvReader reader{name, text};
  const std::size_t slice = reader.column("slice");
  const std::size_t batch_size = reader.column("batch_size");
  const std::size_t epoch = reader.column("target_epoch");
  std::map<int, std::map<int, std::vector<std::optional<int>>>> rows;
  while (reader.next()) {
    rows[reader.integer(slice, 1, most_slices)][reader.integer(batch_size, 1, largest_slice_batch)].push_back(
        epoch_of(reader, epoch));
  }
  if (rows.empty()) {
    throw lacks(name, "no training is recorded");
  }
  SliceTrace trace{.name = std::move(name), .slices = {}};
  for (auto& [number, arms] : rows) {
    if (number != static_cast<int>(trace.slices.size()) + 1) {
      throw lacks(trace.name, fmt::format("slice {} is missing", trace.slices.size() + 1));
    }
    for (const auto& [size, runs] : rows.begin()->second) {
      if (!arms.contains(size)) {
        throw lacks(trace.name, fmt::format("slice {} has no run at batch size {}, and slice 1 has", number, size));
      }
    }
    if (arms.size() != rows.begin()->second.size()) {
      throw lacks(trace.name, fmt::format("slice {} has more batch sizes than slice 1", number));
    }
    std::vector<SliceArm>& one = trace.slices.emplace_back();
    for (auto& [size, runs] : arms) {
      std::ranges::sort(runs, {}, [](const std::optional<int>& run) { return run.value_or(most_slice_epochs + 1); });
      one.push_back({.batch_size = size, .runs = std::move(runs)});
    }
  }
  return trace;
}

std::vector<simulate::Workload> slice_workloads(const SliceTrace& trace, const simulate::Workload& power) {
  int most = 1;
  for (const std::vector<SliceArm>& slice : trace.slices) {
    for (const SliceArm& arm : slice) {
      for (const std::optional<int>& run : arm.runs) {
        most = std::max(most, run.value_or(0));
      }
    }
  }
  std::vector<simulate::Workload> workloads;
  for (const std::vector<SliceArm>& slice : trace.slices) {
    simulate::Workload workload{.name = fmt::format("{}, slice {}", trace.name, workloads.size() + 1),
                                .arms = {},
                                .max_epochs = most,
                                .default_batch_size = slice.back().batch_size,
                                .max_limit = power.max_limit,
                                .max_power = power.max_power};
    for (const SliceArm& arm : slice) {
      const auto known = std::ranges::find(power.arms, arm.batch_size, &simulate::WorkloadArm::batch_size);
      if (known == power.arms.end()) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("{}: the time and power of an epoch at batch size {} are not known", trace.name,
                                arm.batch_size),
                    fmt::format("train at {}", fmt::join(power.batch_sizes(), ", "))};
      }
      workload.arms.push_back({.batch_size = arm.batch_size, .limits = known->limits, .runs = arm.runs});
      if (arm.batch_size == power.default_batch_size) {
        workload.default_batch_size = arm.batch_size;
      }
    }
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

}  // namespace zeus::research
