#include "trace/power_trace.hpp"

#include "trace/bounds.hpp"
#include "trace/csv_reader.hpp"

#include <algorithm>
#include <utility>

namespace zeus::trace {

namespace {

constexpr double largest_power = 1e6;
constexpr double longest_epoch = 1e9;
constexpr double shortest_epoch = 1e-9;
constexpr double least_power = 1e-6;  // 0 means that the measurement failed

}  // namespace

PowerTrace parse_power_trace(std::string name, std::string_view text) {
  CsvReader reader{name, text};
  const std::size_t dataset = reader.column("dataset");
  const std::size_t network = reader.column("network");
  const std::size_t optimizer = reader.column("optimizer");
  const std::size_t batch_size = reader.column("batch_size");
  const std::size_t limit = reader.column("power_limit");
  const std::size_t time = reader.column("time_per_epoch");
  const std::size_t power = reader.column("average_power");
  PowerTrace trace{.name = std::move(name), .rows = {}, .max_power = {}};
  while (reader.next()) {
    trace.rows.push_back({.dataset = std::string{reader.word(dataset)},
                          .network = std::string{reader.word(network)},
                          .optimizer = std::string{reader.word(optimizer)},
                          .batch_size = reader.integer(batch_size, 1, largest_batch_size),
                          .profile = {.limit = Watts{reader.number(limit, 1.0, largest_power)},
                                      .epoch_time = Seconds{reader.number(time, shortest_epoch, longest_epoch)},
                                      .average_power = Watts{reader.number(power, least_power, largest_power)}},
                          .line = reader.line()});
    trace.max_power = std::max(trace.max_power, trace.rows.back().profile.limit);
  }
  return trace;
}

}  // namespace zeus::trace
