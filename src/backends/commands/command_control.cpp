#include "backends/commands/command_control.hpp"

#include "base/group_command.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace zeus::backends::commands {

using device::Outcome;

namespace {

constexpr std::string_view usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t most_kept = 65'536;
constexpr std::size_t most_logged = 4096;

constexpr Failure failed{Reason::unknown, "the command for this setting failed"};
constexpr Failure timed_out{Reason::timeout, "the command for this setting did not end in time"};

PlaceValues values_of(std::initializer_list<std::pair<Place, std::int64_t>> given) {
  PlaceValues values{};
  for (const auto& [place, value] : given) {
    values.at(static_cast<std::size_t>(place)) = value;
  }
  return values;
}

std::int64_t whole(double value) {
  return std::llround(value);
}

// The GPU's own clocks have two names but are set as one.
bool is_memory(ClockDomain domain) {
  return domain == ClockDomain::memory;
}

std::string logged(const std::string& printed) {
  return shortened(printable(printed), most_logged);
}

// Why a command counts as failed; empty if it succeeded.
std::string fault_of(const GroupCommandEnd& end, const Override& override) {
  switch (end.how) {
    case GroupCommandEnd::How::not_started:
      return "it cannot be started: " + std::generic_category().message(end.code);
    case GroupCommandEnd::How::timed_out:
      return fmt::format("it did not end within {:.6g} s, and was killed", override.patience.value());
    case GroupCommandEnd::How::killed:
      return fmt::format("it was killed by signal {}", end.code);
    case GroupCommandEnd::How::exited:
      break;
  }
  if (end.code != 0) {
    return fmt::format("exit code {}", end.code);
  }
  if (!override.error_pattern) {
    return {};
  }
  if (override.error_pattern->is_in(end.output + end.errors)) {
    return "exit code 0, but its output matches error_pattern";
  }
  // Output that cannot be searched completely may contain errors.
  if (end.abandoned) {
    return "exit code 0, but its children were still printing after it had ended";
  }
  return end.cut ? fmt::format("exit code 0, but it printed more than the {} bytes that are searched for error_pattern",
                               most_kept)
                 : std::string{};
}

}  // namespace

Environment command_environment(const Environment& environment) {
  std::string path = environment.get("PATH").value_or("");
  return Environment{{{"LANG", "C.UTF-8"}, {"PATH", path.empty() ? std::string{usual_path} : std::move(path)}}};
}

CommandControl::CommandControl(std::shared_ptr<const OverridePlan> plan, std::shared_ptr<device::GpuControl> driver,
                               int gpu_id, Environment environment)
    : plan_{std::move(plan)}, driver_{std::move(driver)}, gpu_id_{gpu_id}, environment_{std::move(environment)} {
}

template <typename Ask>
Outcome CommandControl::perform(Operation operation, const PlaceValues& values, const Ask& ask_driver) {
  if (const Override* const override = plan_->find(operation)) {
    return run(*override, operation, values);
  }
  return driver_ ? ask_driver(*driver_) : Outcome{Reason::unsupported};
}

Outcome CommandControl::run(const Override& override, Operation operation, PlaceValues values) const {
  values.at(static_cast<std::size_t>(Place::gpu_id)) = gpu_id_;
  for (const CommandWords& command : override.commands) {
    const std::vector<std::string> words = command.fill(values);
    const std::string what = fmt::format("GPU {}: {}: `{}`", gpu_id_, to_string(operation),
                                         printable(fmt::format("{}", fmt::join(words, " "))));
    try {
      const GroupCommandEnd end = run_to_end({.words = words,
                                              .environment = environment_,
                                              .patience = override.patience,
                                              .most = most_kept,
                                              .linger = linger});
      if (const std::string fault = fault_of(end, override); !fault.empty()) {
        log::error(fmt::format("{} failed: {}; output: '{}'; errors: '{}'", what, fault, logged(end.output),
                               logged(end.errors)));
        return end.how == GroupCommandEnd::How::timed_out ? timed_out : failed;
      }
    } catch (const Error& error) {
      log::error(fmt::format("{} failed: {}", what, error.what()));
      return failed;
    }
    log::debug(what + " succeeded");
  }
  return device::done;
}

Outcome CommandControl::set_power_limit(Watts limit) {
  const std::int64_t milliwatts = whole(limit.value() * 1e3);
  return perform(Operation::set_power_limit,
                 values_of({{Place::power_limit_mw, milliwatts}, {Place::power_limit_w, milliwatts / 1000}}),
                 [&](GpuControl& driver) { return driver.set_power_limit(limit); });
}

Outcome CommandControl::lock_clocks(ClockDomain domain, ClockRange range) {
  return perform(is_memory(domain) ? Operation::set_mem_locked_clocks : Operation::set_gpu_locked_clocks,
                 values_of({{Place::min_clock_mhz, whole(range.minimum.value())},
                            {Place::max_clock_mhz, whole(range.maximum.value())}}),
                 [&](GpuControl& driver) { return driver.lock_clocks(domain, range); });
}

Outcome CommandControl::reset_clocks(ClockDomain domain) {
  return perform(is_memory(domain) ? Operation::reset_mem_locked_clocks : Operation::reset_gpu_locked_clocks, {},
                 [&](GpuControl& driver) { return driver.reset_clocks(domain); });
}

Outcome CommandControl::reset_all_clocks() {
  return perform(Operation::reset_locked_clocks, {}, [](GpuControl& driver) { return driver.reset_all_clocks(); });
}

Outcome CommandControl::set_persistence_mode(bool enabled) {
  return perform(Operation::set_persistence_mode, values_of({{Place::enabled, enabled ? 1 : 0}}),
                 [&](GpuControl& driver) { return driver.set_persistence_mode(enabled); });
}

bool CommandControl::resets_all_clocks_at_once() const {
  return plan_->find(Operation::reset_locked_clocks) != nullptr ||
         plan_->find(Operation::reset_gpu_locked_clocks) != nullptr ||
         plan_->find(Operation::reset_mem_locked_clocks) != nullptr;
}

Seconds CommandControl::longest() const {
  Seconds most{0};
  for (std::size_t i = 0; i < operation_count; ++i) {
    if (const Override* const override = plan_->find(static_cast<Operation>(i))) {
      most = std::max(most, override->longest());
    }
  }
  return most;
}

void set_by_commands(std::span<device::DiscoveredGpu> gpus, const std::shared_ptr<const OverridePlan>& plan,
                     const Environment& environment) {
  if (plan->empty()) {
    return;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].control = std::make_shared<CommandControl>(plan, std::move(gpus[i].control), static_cast<int>(i),
                                                       command_environment(environment));
  }
}

}  // namespace zeus::backends::commands
