#include "sweep/traces.hpp"

#include "base/printable.hpp"
#include "sweep/results.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tuple>

namespace zeus::sweep {

namespace {

constexpr int largest_batch = 1'000'000'000;

// What both files know a configuration by.
struct Configuration {
  std::string dataset;
  std::string network;
  int batch_size = 0;
  std::string optimizer;

  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

struct EpochSum {
  Seconds time;
  Joules energy;
  std::size_t runs = 0;
};

// Written without quotes, as the published files are.
std::string column_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") != std::string::npos || text.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} cannot be in a trace", in_quotes(text)),
                "a name has no commas, quotes and line ends"};
  }
  return text;
}

Configuration configuration_of(const KnownRun& run, const TraceColumns& columns) {
  const auto value = [&](const std::string& name, const std::string& otherwise) {
    const std::string* const own = find_parameter(run.started.parameters, name);
    return column_text(own != nullptr ? *own : otherwise);
  };
  return {.dataset = value("dataset", columns.dataset),
          .network = value("network", columns.network),
          .batch_size = 0,
          .optimizer = value("optimizer", columns.optimizer)};
}

std::optional<int> batch_size_of(const KnownRun& run, const std::string& name) {
  const std::string* const text = find_parameter(run.started.parameters, name);
  int size = 0;
  if (text == nullptr) {
    return std::nullopt;
  }
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), size);
  const bool is_size =
      problem == std::errc{} && end == text->data() + text->size() && size >= 1 && size <= largest_batch;
  return is_size ? std::optional{size} : std::nullopt;
}

std::optional<std::size_t> epoch_of_target(const std::vector<std::optional<double>>& metrics, double target,
                                           bool higher_is_better) {
  const auto reached = std::ranges::find_if(metrics, [&](const std::optional<double>& metric) {
    return metric && (higher_is_better ? *metric >= target : *metric <= target);
  });
  return reached == metrics.end() ? std::nullopt
                                  : std::optional{static_cast<std::size_t>(reached - metrics.begin()) + 1};
}

// The limit that was asked for, or else the one in force.
std::optional<Watts> limit_of(const KnownRun& run, const QueueEntry& entry) {
  const Task task = task_at(entry, run.started.task);
  return task.power_limit ? task.power_limit : run.ended->figures.gpus.front().limit;
}

class TraceWriter {
 public:
  TraceWriter(const LedgerContent& ledger, const TraceColumns& columns)
      : ledger_{ledger}, columns_{columns}, beside_{runs_beside(ledger)} {}

  SweepTraces write() {
    for (const KnownRun& run : ledger_.runs) {
      if (const std::string why = why_left_out(run); !why.empty()) {
        traces_.left_out.push_back(fmt::format("run {} {}", run.started.run, why));
      } else {
        add(run);
      }
    }
    traces_.train = "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\n" + train_;
    for (const auto& [key, sum] : sums_) {
      const auto& [gpu, configuration, limit] = key;
      std::string& file = traces_.power[gpu];
      if (file.empty()) {
        file = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n";
      }
      file += fmt::format("{},{},{},{},{},{},{}\n", configuration.dataset, configuration.network,
                          configuration.batch_size, configuration.optimizer, limit,
                          sum.time.value() / static_cast<double>(sum.runs), (sum.energy / sum.time).value());
    }
    return traces_;
  }

 private:
  [[nodiscard]] const QueueEntry& entry_of(const KnownRun& run) const {
    return ledger_.entries[run.started.entry - 1].taken.content;
  }

  [[nodiscard]] std::optional<double> target_of(const KnownRun& run) const {
    return columns_.target_metric ? columns_.target_metric : entry_of(run).settings.target_metric;
  }

  // Empty if it is in.
  [[nodiscard]] std::string why_left_out(const KnownRun& run) const {
    if (!run.ended || run.ended->outcome != Outcome::done) {
      return "is not done";
    }
    const RunFigures& figures = run.ended->figures;
    if (!batch_size_of(run, columns_.batch_size)) {
      return fmt::format("has no batch size in a parameter {}", in_quotes(columns_.batch_size));
    }
    if (!target_of(run)) {
      return "has no target: give --target-metric, or `target_metric` in the queue";
    }
    if (figures.epochs == 0) {
      return "printed no epoch: give `epoch_regex` and `metric_regex` in the queue";
    }
    if (std::ranges::none_of(figures.metrics, [](const auto& metric) { return metric.has_value(); })) {
      return "printed no metric: give `metric_regex` in the queue";
    }
    if (figures.gpus.empty() || !figures.epoch_energy || !figures.epoch_time || *figures.epoch_time <= Seconds{0}) {
      return "has no energy of an epoch";
    }
    if (const std::vector<std::uint64_t>& beside = beside_[run.started.run - 1]; !beside.empty()) {
      return fmt::format("shared a GPU with run {}: give `gpus` in the queue", beside.front());
    }
    if (task_at(entry_of(run), run.started.task).clock) {
      return "has a locked clock, for which a trace has no column";
    }
    if (!limit_of(run, entry_of(run))) {
      return "has no power limit";
    }
    return {};
  }

  void add(const KnownRun& run) {
    const RunFigures& figures = run.ended->figures;
    const QueueEntry& entry = entry_of(run);
    Configuration configuration = configuration_of(run, columns_);
    configuration.batch_size = *batch_size_of(run, columns_.batch_size);
    const double target = *target_of(run);
    const auto epoch = epoch_of_target(figures.metrics, target, entry.settings.higher_is_better);
    const std::string* const rate = find_parameter(run.started.parameters, "learning_rate");
    train_ += fmt::format("{},{},{},{},{},{},{},{}\n", configuration.dataset, configuration.network,
                          configuration.batch_size, configuration.optimizer, rate != nullptr ? column_text(*rate) : "0",
                          ++runs_of_[configuration], target, epoch ? fmt::format("{}", *epoch) : "");
    EpochSum& sum = sums_[{figures.gpus.front().name, configuration, limit_of(run, entry)->value()}];
    sum.time += *figures.epoch_time;
    sum.energy += *figures.epoch_energy / static_cast<double>(figures.gpus.size());
    ++sum.runs;
    ++traces_.runs;
  }

  const LedgerContent& ledger_;
  const TraceColumns& columns_;
  std::vector<std::vector<std::uint64_t>> beside_;  // by run
  SweepTraces traces_;
  std::string train_;
  std::map<Configuration, int> runs_of_;
  std::map<std::tuple<std::string, Configuration, double>, EpochSum> sums_;
};

}  // namespace

SweepTraces traces_of(const LedgerContent& ledger, const TraceColumns& columns) {
  return TraceWriter{ledger, columns}.write();
}

}  // namespace zeus::sweep
