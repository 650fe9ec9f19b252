#include "sweep/host_run.hpp"

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/file_tree.hpp"
#include "base/log.hpp"
#include "base/orphans.hpp"
#include "measure/devices.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "records/json_writer.hpp"
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
#include <charconv>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::sweep {

namespace {

// How soon the end of the order's stream, and a lease of another process that has ended, are noticed.
constexpr Seconds look{0.5};
constexpr std::string_view whole_run = "run";
constexpr std::string_view one_epoch = "epoch";
constexpr std::size_t most_unsettled = 8;

// How a run is connected to the sweep that has ordered it.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Waits for `patience` at most; true if the run is not wanted any more.
  [[nodiscard]] virtual bool has_ended(Seconds patience) const = 0;
  virtual void send(const HostMessage& message) const = 0;
};

// The order's stream. It has one line; its end says that the run is not wanted any more.
class OrderStream final : public Link {
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

  void answer_with(const std::string& key) { key_ = key; }

  [[nodiscard]] bool has_ended(Seconds patience) const override {
    pollfd input{.fd = stream_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, static_cast<int>(patience.value() * 1e3)) <= 0) {
      return false;
    }
    std::array<char, 64> rest{};
    return ::read(stream_.get(), rest.data(), rest.size()) <= 0;
  }

  void send(const HostMessage& message) const override {
    const FileDescriptor output{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    write_all(output, message_bytes(key_, message), "standard output");
  }

 private:
  FileDescriptor stream_;
  std::string key_;
};

// A task of Slurm, which ends it by a signal. Nothing waits for its messages but the last one.
class TaskFiles final : public Link {
 public:
  TaskFiles(Clock& clock, std::filesystem::path end, std::string node)
      : clock_{clock}, end_{std::move(end)}, node_{std::move(node)} {}

  [[nodiscard]] bool has_ended(Seconds patience) const override {
    clock_.sleep_until(clock_.now() + patience);
    return false;
  }

  void send(const HostMessage& message) const override {
    if (const auto* const told = std::get_if<Ended>(&message)) {
      Ended ended = *told;
      ended.figures.node = node_;
      FileTree{}.write_durably(end_.string(), records::json_line(ended) + '\n', Readers::everyone);
    }
  }

 private:
  Clock& clock_;
  std::filesystem::path end_;
  std::string node_;
};

// To the run's log, among what the command prints, if it can be written.
void say_in_output(std::string_view sentence) {
  try {
    const FileDescriptor output{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    write_all(output, fmt::format("zeus: {}\n", sentence), "standard output");
  } catch (const Error& error) {
    log::error(sentence);
    log::error(error.what());
  }
}

// Sums up the epochs as they end.
class EpochAccount {
 public:
  explicit EpochAccount(Monitor& monitor) : monitor_{monitor} { monitor_.begin(one_epoch); }

  void hear(const trial::Progress& progress) {
    if (const auto* const metric = std::get_if<trial::MetricSeen>(&progress)) {
      metric_ = std::isfinite(metric->value) ? std::optional{metric->value} : std::nullopt;
      is_new_ = true;
    } else if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
      end_epochs(epochs->count);
    }
  }

  void finish(RunFigures& figures) {
    while (!unsettled_.empty()) {
      settle_oldest();
    }
    monitor_.cancel(one_epoch);
    // Printed after the line of its epoch, as by a program that names the epoch when it begins.
    if (is_new_ && !metrics_.empty() && !metrics_.front()) {
      metrics_.erase(metrics_.begin());
      metrics_.push_back(metric_);
    }
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
    is_new_ = false;
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
  bool is_new_ = false;  // printed since the last epoch ended
  std::vector<std::optional<double>> metrics_;
  std::deque<Unsettled> unsettled_;
  Sum first_;  // with the program's start
  Sum rest_;
};

class HostRun {
 public:
  HostRun(const run::Place& place, const Link& link, RunOrder order)
      : place_{place}, link_{link}, order_{std::move(order)}, gpus_{place} {}

  // Sends what came of the order, unless the run was not wanted any more before it began. A signal that meant the
  // command as well, as Slurm's do, may come when the command has ended by it; signals end this process only after the
  // result is sent.
  void run() {
    if (!wait_for_gpus()) {
      return;
    }
    gpus_.set(order_.power_limit, order_.clock);
    if (!settle_down()) {
      gpus_.release();
      return;
    }
    const Ended ended = run_command();
    try {
      gpus_.release();
    } catch (const Error& error) {  // what was measured counts all the same
      say_in_output(error.what());
    }
    link_.send(ended);
  }

 private:
  bool wait_for_gpus() {
    std::string said;
    while (std::optional<std::string> why = gpus_.try_to_take(order_.gpus)) {
      if (*why != said) {
        link_.send(Waiting{.what = *why});
        said = *std::move(why);
      }
      // Not all at the same moment, so that two runs that each need several GPUs do not keep one another waiting.
      if (link_.has_ended(look * (0.5 + static_cast<double>(::getpid() % 16) / 16.0))) {
        return false;
      }
    }
    return true;
  }

  bool settle_down() {
    const Instant until = place_.clock.now() + order_.settle;
    while (place_.clock.now() < until) {
      if (link_.has_ended(std::min(look, until - place_.clock.now()))) {
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
    run::WatchedCommand& command = command_.emplace(
        run::WatchedCommand::Plan{.command = {"/bin/sh", "-c", order_.command},
                                  .environment = gpus_.environment(),
                                  .variables = {},
                                  .patterns = {.metric = order_.metric_regex, .epoch = order_.epoch_regex, .step = ""},
                                  .output = STDOUT_FILENO,
                                  .error = STDOUT_FILENO},
        place_.clock);
    while (!command.exit_code()) {
      for (const trial::Progress& progress : command.wait(look)) {
        epochs.hear(progress);
      }
      if (link_.has_ended(Seconds{0})) {
        command.end();
      }
      renew_gpus();
    }
    const Measurement at_end = monitor.end(whole_run);
    end_orphans();
    const Measurement measured = monitor.settle(at_end);
    epochs.finish(ended.figures);
    ended.why_not_run = command.why_not_run().value_or(not_renewed_);
    ended.figures.exit_code = command.exit_code();
    ended.cut = command.told_to_end();
    ended.figures.start_monotonic = measured.start;
    ended.figures.time = measured.time();
    const MeasuredEnergy energy = measured.total_gpu_energy();
    ended.figures.energy = any ? energy.energy : std::nullopt;
    ended.figures.energy_unknown = any ? energy.reason : "this host shows no GPU";
    return ended;
  }

  // The command goes on if that fails, and its run does not count as done: its settings may not have held.
  void renew_gpus() {
    try {
      gpus_.renew();
    } catch (const Error& error) {
      if (not_renewed_.empty()) {
        not_renewed_ = fmt::format("its GPUs may have lost their settings during the run: {}", error.what());
        say_in_output(not_renewed_);
      }
    }
  }

  const run::Place& place_;
  const Link& link_;
  RunOrder order_;
  std::string not_renewed_;  // why
  LeasedGpus gpus_;
  std::optional<run::WatchedCommand> command_;  // holds signals back
};

// The command reads nothing, and cannot take the end of the order's stream away from us.
void take_input_away() {
  const FileDescriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0) {
    throw system_failure(errno, "cannot open /dev/null");
  }
}

void send_output_to(const std::string& name) {
  const FileDescriptor file{::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!file || ::dup2(file.get(), STDOUT_FILENO) < 0) {
    throw system_failure(errno, fmt::format("cannot write {}", name));
  }
}

void carry_out(const run::Place& place, const Link& link, const RunOrder& order, std::string_view version) {
  try {
    if (order.version != version) {
      throw Error{ErrorKind::unavailable,
                  fmt::format("the host has Zeus {}, and the sweep runs with {}", version, order.version),
                  "install the same version on both"};
    }
    HostRun{place, link, order}.run();
  } catch (const Error& error) {
    link.send(Ended{.why_not_run = error.what(), .figures = {}});
  }
}

}  // namespace

int run_order(const run::Place& place, std::string_view version, int input) {
  OrderStream stream{input};
  const RunOrder order = parse_order(stream.read_line());
  stream.answer_with(order.key);
  take_input_away();
  carry_out(place, stream, order, version);
  return 0;
}

std::filesystem::path order_file(const std::filesystem::path& folder, std::uint64_t number) {
  return folder / fmt::format("{}.order", number);
}

std::filesystem::path end_file(const std::filesystem::path& folder, std::uint64_t number) {
  return folder / fmt::format("{}.end", number);
}

int run_task(const run::Place& place, std::string_view version, const std::filesystem::path& folder) {
  const std::string text = place.environment.get("SLURM_ARRAY_TASK_ID").value_or("");
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || text.empty()) {
    throw Error{ErrorKind::unavailable, "this is not a task of an array of Slurm: $SLURM_ARRAY_TASK_ID has no number",
                "`zeus sweep queue --engine slurm` starts this command"};
  }
  const std::string file = order_file(folder, number).string();
  const std::optional<std::string> line = FileTree{}.read(file);
  if (!line) {
    throw Error{ErrorKind::not_found, fmt::format("there is no order {}", file), "the nodes must share that folder"};
  }
  const RunOrder order = parse_order(*line);
  take_input_away();
  send_output_to(order.output);
  const TaskFiles files{place.clock, end_file(folder, number), place.environment.get("SLURMD_NODENAME").value_or("")};
  carry_out(place, files, order, version);
  return 0;
}

}  // namespace zeus::sweep
