#include "train/outer_run.hpp"

#include "base/log.hpp"
#include "base/no_pipe_signal.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cmath>
#include <utility>

namespace zeus::train {

namespace {

constexpr const char* reports_variable = "ZEUS_PROGRESS";
// The run needs no more frequent reports, and each is a call into the kernel.
constexpr Seconds between_words{0.005};

template <typename Number>
std::optional<Number> number_in(const Environment& environment, const char* variable) {
  const std::string text = environment.get(variable).value_or("");
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end && !text.empty() ? std::optional{number} : std::nullopt;
}

std::optional<std::uint64_t> count_in(const Environment& environment, const char* variable) {
  const auto count = number_in<std::uint64_t>(environment, variable);
  return count && *count > 0 ? count : std::nullopt;
}

}  // namespace

RunValues run_values_of(const Environment& environment) {
  RunValues values{.batch_size = count_in(environment, "ZEUS_BATCH_SIZE"),
                   .learning_rate = number_in<double>(environment, "ZEUS_LEARNING_RATE"),
                   .seed = number_in<std::uint64_t>(environment, "ZEUS_SEED"),
                   .epochs = count_in(environment, "ZEUS_EPOCHS"),
                   .target_metric = number_in<double>(environment, "ZEUS_TARGET_METRIC"),
                   .higher_is_better = {}};
  const std::optional<std::string> higher = environment.get("ZEUS_HIGHER_IS_BETTER");
  if (higher == "true" || higher == "false") {
    values.higher_is_better = higher == "true";
  }
  return values;
}

std::unique_ptr<OuterRun> OuterRun::find(const Environment& environment, Clock& clock) {
  const std::optional<std::string> reports = environment.get(reports_variable);
  if (!reports || reports->empty()) {
    return nullptr;
  }
  try {
    return std::make_unique<OuterRun>(*reports, run_values_of(environment), clock);
  } catch (const Error& error) {
    log::warning(fmt::format("the training goes on by itself: the `zeus run` named by ${} cannot be reached: {}",
                             reports_variable, error.what()));
    return nullptr;
  }
}

OuterRun::OuterRun(const std::filesystem::path& reports, const RunValues& values, Clock& clock)
    : file_{::open(reports.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC)}, values_{values}, clock_{clock} {
  if (!file_) {
    throw system_failure(errno, fmt::format("cannot write to {}", reports.string()));
  }
}

TrainingOptions OuterRun::complete(TrainingOptions options) const {
  if (!options.batch_size) {
    options.batch_size = values_.batch_size;
  }
  if (!options.stopping.max_epochs) {
    options.stopping.max_epochs = values_.epochs;
  }
  // Without a known direction, a target would be reached at once or never.
  if (!options.stopping.target && values_.target_metric && values_.higher_is_better &&
      std::isfinite(*values_.target_metric)) {
    options.stopping.target =
        TrainingTarget{.metric = *values_.target_metric, .higher_is_better = *values_.higher_is_better};
  }
  return options;
}

void OuterRun::steps(std::uint64_t count) {
  untold_steps_ += count;
  if (const Instant now = clock_.now(); now - told_ >= between_words) {
    told_ = now;
    add_steps();
    send();
  }
}

void OuterRun::metric(double value) {
  add_steps();
  unsent_ += fmt::format("metric {}\n", value);
  metric_held_ = true;
}

void OuterRun::epoch() {
  add_steps();
  unsent_ += "epoch\n";
  send();
}

void OuterRun::flush() {
  if (!metric_held_) {
    add_steps();
    send();
  }
}

void OuterRun::add_steps() {
  if (const std::uint64_t count = std::exchange(untold_steps_, 0); count > 0) {
    unsent_ += fmt::format("step {}\n", count);
  }
}

void OuterRun::send() {
  metric_held_ = false;
  const NoPipeSignal guard;
  while (file_ && !unsent_.empty()) {
    // A pipe takes this many bytes as a whole or not at all, even if other processes write to it.
    const std::size_t most = std::min<std::size_t>(unsent_.size(), PIPE_BUF);
    const std::size_t lines = unsent_.rfind('\n', most - 1) + 1;
    const ssize_t sent = ::write(file_.get(), unsent_.data(), lines);
    if (sent > 0) {
      unsent_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return;  // sent with the next report
    } else if (errno != EINTR) {
      file_.close();
    }
  }
}

}  // namespace zeus::train
