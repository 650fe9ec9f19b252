#include "sweep/host_run.hpp"

#include "base/file_descriptor.hpp"
#include "base/orphans.hpp"
#include "measure/devices.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "run/progress_patterns.hpp"
#include "run/watched_command.hpp"
#include "sweep/host_protocol.hpp"
#include "sweep/leased_gpus.hpp"
#include "trial/progress.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::sweep {

namespace {

// How soon the end of the order's stream, and a lease of another process that has ended, are noticed.
constexpr Seconds look{0.5};
constexpr std::string_view whole_run = "run";
constexpr std::string_view one_epoch = "epoch";
constexpr std::size_t most_unsettled = 8;

// The order's stream. It has one line; its end says that the run is not wanted any more.
class OrderStream {
 public:
  explicit OrderStream(int input) : stream_{::fcntl(input, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)} {
    if (!stream_) {
      throw system_failure(errno, "cannot read the order of a sweep");
    }
  }

  std::string read_line() const {
    std::string line;
    char letter = 0;
    while (line.size() <= longest_order) {
      const ssize_t count = ::read(stream_.get(), &letter, 1);
      if (count == 1 && letter != '\n') {
        line += letter;
      } else if (count >= 0 || errno != EINTR) {
        break;
      }
    }
    return line;
  }

  // Waits for the end, for `patience` at most.
  [[nodiscard]] bool has_ended(Seconds patience) const {
    pollfd input{.fd = stream_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, static_cast<int>(patience.value() * 1e3)) <= 0) {
      return false;
    }
    std::array<char, 64> rest{};
    return ::read(stream_.get(), rest.data(), rest.size()) <= 0;
  }

 private:
  FileDescriptor stream_;
};

void send(const std::string& key, const HostMessage& message) {
  static const FileDescriptor output{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  write_all(output, message_bytes(key, message), "standard output");
}

// Sums up the epochs as they end.
class EpochAccount {
 public:
  explicit EpochAccount(Monitor& monitor) : monitor_{monitor} { monitor_.begin(one_epoch); }

  void hear(const trial::Progress& progress) {
    if (const auto* const metric = std::get_if<trial::MetricSeen>(&progress)) {
      metric_ = std::isfinite(metric->value) ? std::optional{metric->value} : std::nullopt;
    } else if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
      end_epochs(epochs->count);
    }
  }

  void finish(RunFigures& figures) {
    while (!unsettled_.empty()) {
      settle_oldest();
    }
    monitor_.cancel(one_epoch);
    const bool several = rest_.epochs > 0;
    const Sum& sum = several ? rest_ : first_;
    figures.epochs = first_.epochs + rest_.epochs;
    figures.metrics = std::move(metrics_);
    if (sum.epochs > 0) {
      const auto count = static_cast<double>(sum.epochs);
      figures.epoch_time = sum.time / count;
      if (sum.energy) {
        figures.epoch_energy = *sum.energy / count;
      }
    }
  }

 private:
  struct Sum {
    std::uint64_t epochs = 0;
    Seconds time = {};
    std::optional<Joules> energy = Joules{0};
  };
  struct Unsettled {
    Measurement measurement;
    std::uint64_t epochs = 0;
  };

  void end_epochs(std::uint64_t count) {
    unsettled_.push_back({.measurement = monitor_.end(one_epoch), .epochs = count});
    monitor_.begin(one_epoch);
    if (metrics_.size() + count <= most_runs_of_an_entry) {
      metrics_.insert(metrics_.end(), count, metric_);
    }
    if (unsettled_.size() > most_unsettled) {
      settle_oldest();
    }
  }

  void settle_oldest() {
    const Unsettled oldest = std::move(unsettled_.front());
    unsettled_.pop_front();
    const Measurement settled = monitor_.settle(oldest.measurement);
    Sum& sum = first_.epochs == 0 ? first_ : rest_;
    sum.epochs += oldest.epochs;
    sum.time += settled.time();
    const std::optional<Energy> energy = settled.total_gpu_energy().energy;
    sum.energy = sum.energy && energy ? std::optional{*sum.energy + energy->value} : std::nullopt;
  }

  Monitor& monitor_;
  std::optional<double> metric_;
  std::vector<std::optional<double>> metrics_;
  std::deque<Unsettled> unsettled_;
  Sum first_;  // with the program's start
  Sum rest_;
};

class HostRun {
 public:
  HostRun(const run::Place& place, const OrderStream& stream, RunOrder order)
      : place_{place}, stream_{stream}, order_{std::move(order)}, gpus_{place} {}

  // Nothing if the run was not wanted any more before it began.
  std::optional<Ended> run() {
    if (!wait_for_gpus()) {
      return std::nullopt;
    }
    gpus_.set(order_.power_limit, order_.clock);
    if (!settle_down()) {
      gpus_.release();
      return std::nullopt;
    }
    Ended ended = run_command();
    gpus_.release();
    return ended;
  }

 private:
  bool wait_for_gpus() {
    std::string said;
    while (std::optional<std::string> why = gpus_.try_to_take(order_.gpus)) {
      if (*why != said) {
        send(order_.key, Waiting{.what = *why});
        said = *std::move(why);
      }
      // Not all at the same moment, so that two runs that each need several GPUs do not keep one another waiting.
      if (stream_.has_ended(look * (0.5 + static_cast<double>(::getpid() % 16) / 16.0))) {
        return false;
      }
    }
    return true;
  }

  bool settle_down() {
    const Instant until = place_.clock.now() + order_.settle;
    while (place_.clock.now() < until) {
      if (stream_.has_ended(std::min(look, until - place_.clock.now()))) {
        return false;
      }
      gpus_.renew();
    }
    return true;
  }

  Ended run_command() {
    measure::Sampler::Devices devices = measure::visible_devices(gpus_.inventory());
    devices.cpus.clear();
    const bool any = !devices.gpus.empty();
    const auto source = std::make_shared<measure::SamplerSource>(std::move(devices), place_.clock);
    MonitorOptions options;
    options.gpus = gpus_.numbers();
    Monitor monitor = measure::monitor_of(source, options);
    // After the guardian was started, which must not become a child of ours.
    adopt_orphans();
    Ended ended;
    ended.figures.gpus = gpus_.list();
    monitor.begin(whole_run);
    EpochAccount epochs{monitor};
    run::WatchedCommand command{{.command = {"/bin/sh", "-c", order_.command},
                                 .environment = gpus_.environment(),
                                 .variables = {},
                                 .patterns = {.metric = order_.metric_regex, .epoch = order_.epoch_regex, .step = ""},
                                 .output = STDOUT_FILENO,
                                 .error = STDOUT_FILENO},
                                place_.clock};
    while (!command.exit_code()) {
      for (const trial::Progress& progress : command.wait(look)) {
        epochs.hear(progress);
      }
      if (stream_.has_ended(Seconds{0})) {
        command.end();
      }
      gpus_.renew();
    }
    const Measurement at_end = monitor.end(whole_run);
    end_orphans();
    const Measurement measured = monitor.settle(at_end);
    epochs.finish(ended.figures);
    ended.why_not_run = command.why_not_run().value_or("");
    ended.figures.exit_code = command.exit_code();
    ended.figures.start_monotonic = measured.start;
    ended.figures.time = measured.time();
    const MeasuredEnergy energy = measured.total_gpu_energy();
    ended.figures.energy = any ? energy.energy : std::nullopt;
    ended.figures.energy_unknown = any ? energy.reason : "this host shows no GPU";
    return ended;
  }

  const run::Place& place_;
  const OrderStream& stream_;
  RunOrder order_;
  LeasedGpus gpus_;
};

// The command reads nothing, and cannot take the end of the order's stream away from us.
void take_input_away() {
  const FileDescriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0) {
    throw system_failure(errno, "cannot open /dev/null");
  }
}

}  // namespace

int run_order(const run::Place& place, std::string_view version, int input) {
  const OrderStream stream{input};
  const RunOrder order = parse_order(stream.read_line());
  take_input_away();
  std::optional<Ended> ended;
  try {
    if (order.version != version) {
      throw Error{ErrorKind::unavailable,
                  fmt::format("the host has Zeus {}, and the sweep runs with {}", version, order.version),
                  "install the same version on both"};
    }
    ended = HostRun{place, stream, order}.run();
  } catch (const Error& error) {
    ended = Ended{.why_not_run = error.what(), .figures = {}};
  }
  if (ended) {
    send(order.key, *ended);
  }
  return 0;
}

}  // namespace zeus::sweep
