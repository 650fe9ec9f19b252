#include "trace/train_trace.hpp"

#include "trace/bounds.hpp"
#include "trace/csv_reader.hpp"

#include <utility>

namespace zeus::trace {

namespace {

constexpr int most_epochs = 1'000'000;
constexpr double largest_metric = 1e12;

std::optional<int> target_epoch(const CsvReader& reader, std::size_t column) {
  const std::string_view text = reader.text(column);
  if (text.empty() || text == "nan" || text == "NaN") {
    return std::nullopt;
  }
  return reader.integer(column, 1, most_epochs);
}

}  // namespace

TrainTrace parse_train_trace(std::string name, std::string_view text) {
  CsvReader reader{name, text};
  const std::size_t dataset = reader.column("dataset");
  const std::size_t network = reader.column("network");
  const std::size_t optimizer = reader.column("optimizer");
  const std::size_t batch_size = reader.column("batch_size");
  const std::size_t metric = reader.column("target_metric");
  const std::size_t epoch = reader.column("target_epoch");
  TrainTrace trace{.name = std::move(name), .runs = {}};
  while (reader.next()) {
    trace.runs.push_back({.dataset = std::string{reader.word(dataset)},
                          .network = std::string{reader.word(network)},
                          .optimizer = std::string{reader.word(optimizer)},
                          .batch_size = reader.integer(batch_size, 1, largest_batch_size),
                          .target_metric = reader.number(metric, -largest_metric, largest_metric),
                          .target_epoch = target_epoch(reader, epoch)});
  }
  return trace;
}

}  // namespace zeus::trace
