#include "pacing/instruction_profiler.hpp"

#include "base/student_quantile.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

namespace zeus::pacing {

namespace {

// The first round's clocks are this share of the highest one apart.
constexpr double wide_step = 0.07;
// A clock at which an instruction takes longer than this, relative to the highest one, is of no use to a plan.
constexpr double longest_stretch = 2.2;
// Slower clocks are given up after so many in a row that do not save energy.
constexpr int most_in_vain = 2;
// Times are compared between so many parts of a window.
constexpr std::size_t parts = 4;
constexpr double most_times = 1e6;
// A window whose parts differ by more than this share is repeated, since something else was in the way.
constexpr double too_uneven = 0.02;
constexpr int most_windows = 3;

// Mean and half-width of its 95 % interval.
std::pair<double, double> mean_of(const std::array<double, parts>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  const double mean = sum / static_cast<double>(parts);
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  const double variance = squares / static_cast<double>(parts - 1);
  return {mean, student_quantile(parts - 1) * std::sqrt(variance / static_cast<double>(parts))};
}

Seconds both(Seconds one, Seconds other) {
  return Seconds{std::hypot(one.value(), other.value())};
}
Joules both(Joules one, Joules other) {
  return Joules{std::hypot(one.value(), other.value())};
}

// What the caller's code has thrown, which is not trouble of the GPU even if it is an Error.
struct CallersFailure {
  std::exception_ptr cause;
};

template <typename Call>
void run_callers(const Call& call) {
  try {
    call();
  } catch (...) {
    throw CallersFailure{std::current_exception()};
  }
}

}  // namespace

InstructionProfiler::InstructionProfiler(const std::function<std::unique_ptr<ProfiledGpu>()>& open, Clock& clock,
                                         Seconds window)
    : clock_{clock}, window_{window} {
  if (!(std::isfinite(window.value()) && window.value() > 0)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a window of {} s is not possible", window.value())};
  }
  unless_troubled([&] {
    gpu_ = open();
    clocks_ = gpu_->clocks();
    if (clocks_.empty()) {
      throw Error{ErrorKind::unavailable, "the clocks that this GPU can be locked to are unknown"};
    }
    gpu_->lock(clocks_.front());
  });
}

InstructionProfiler::~InstructionProfiler() {
  close();
}

// Keeps an Error of the GPU as trouble. What the caller's work throws passes through.
template <typename Attempt>
void InstructionProfiler::unless_troubled(const Attempt& attempt) {
  if (!trouble_.empty()) {
    return;
  }
  try {
    attempt();
  } catch (const CallersFailure& failure) {
    std::rethrow_exception(failure.cause);
  } catch (const Error& error) {
    trouble_ = fmt::format("the pipeline's instructions are not measured: {}", error.what());
    close();
  }
}

std::optional<Watts> InstructionProfiler::measure_blocking(const std::function<void()>& wait) {
  unless_troubled([&] {
    if (!gpu_) {
      return;
    }
    gpu_->lock(clocks_.front());
    const Instant begin = clock_.now();
    gpu_->begin_window();
    run_callers(wait);
    const Seconds taken = clock_.now() - begin;
    const MeteredWindow metered = gpu_->end_window();
    if (taken > Seconds{0}) {
      blocking_ = metered.energy / taken;
    }
  });
  return blocking_;
}

const PipelineMeasurement* InstructionProfiler::find(int stage, std::string_view instruction, Megahertz clock) const {
  const auto known = std::ranges::find_if(measurements_, [&](const PipelineMeasurement& one) {
    return one.stage == stage && one.instruction == instruction && one.frequency == clock;
  });
  return known == measurements_.end() ? nullptr : &*known;
}

Joules InstructionProfiler::cost_of(const PipelineMeasurement& measurement) const {
  return measurement.energy - blocking_.value_or(Watts{0}) * measurement.time;
}

// One window, in parts whose times are compared.
PipelineMeasurement InstructionProfiler::repeat(const Subject& subject, Megahertz clock, int times) {
  std::array<double, parts> each{};
  gpu_->begin_window();
  for (double& seconds : each) {
    const Instant begin = clock_.now();
    run_callers([&] { subject.work(times); });
    seconds = (clock_.now() - begin).value() / times;
  }
  const MeteredWindow metered = gpu_->end_window();
  const double runs = times * static_cast<double>(parts);
  const auto [time, time_uncertainty] = mean_of(each);
  return {.stage = subject.stage,
          .instruction = std::string{subject.instruction},
          .frequency = clock,
          .time = Seconds{time},
          .time_uncertainty = Seconds{time_uncertainty},
          .energy = metered.energy / runs,
          .energy_uncertainty = metered.uncertainty / runs};
}

void InstructionProfiler::measure_at(const Subject& subject, Megahertz clock) {
  gpu_->lock(clock);
  const auto once_more = [&] { subject.work(1); };
  run_callers(once_more);  // warms up, and lets the clock settle
  const Instant tried = clock_.now();
  run_callers(once_more);
  const Seconds once = std::max(clock_.now() - tried, Seconds{1e-6});
  const int times =
      static_cast<int>(std::clamp(std::ceil(window_ / once / static_cast<double>(parts)), 1.0, most_times));
  PipelineMeasurement measurement = repeat(subject, clock, times);
  for (int windows = 1; windows < most_windows && measurement.time_uncertainty > too_uneven * measurement.time;
       ++windows) {
    PipelineMeasurement again = repeat(subject, clock, times);
    if (again.time_uncertainty < measurement.time_uncertainty) {
      measurement = std::move(again);
    }
  }
  // Another window would last as much longer or shorter, and draw power meanwhile.
  const Watts power = measurement.energy / measurement.time;
  measurement.energy_uncertainty = both(measurement.energy_uncertainty, power * measurement.time_uncertainty);
  if (!subject.including.empty()) {
    const PipelineMeasurement& part = *find(subject.stage, subject.including, clock);
    measurement.time -= part.time;
    measurement.energy -= part.energy;
    measurement.time_uncertainty = both(measurement.time_uncertainty, part.time_uncertainty);
    measurement.energy_uncertainty = both(measurement.energy_uncertainty, part.energy_uncertainty);
  }
  if (measurement.time <= Seconds{0} || measurement.energy <= Joules{0}) {
    throw Error{ErrorKind::unavailable,
                fmt::format("'{}' of stage {} takes no measurable time or energy", subject.instruction, subject.stage)};
  }
  measurements_.push_back(std::move(measurement));
}

void InstructionProfiler::measure(int stage, std::string_view instruction, const Work& work,
                                  std::string_view including) {
  unless_troubled([&] {
    if (!gpu_) {
      return;
    }
    const Subject subject{.stage = stage, .instruction = instruction, .work = work, .including = including};
    std::optional<Joules> least;
    std::optional<Seconds> fastest;
    int in_vain = 0;
    Megahertz below = clocks_.front();
    for (const Megahertz clock : clocks_) {
      if (clock > below || (!including.empty() && find(stage, including, clock) == nullptr)) {
        continue;
      }
      below = clock - wide_step * clocks_.front();
      measure_at(subject, clock);
      const PipelineMeasurement& last = measurements_.back();
      fastest = fastest.value_or(last.time);
      in_vain = least && cost_of(last) >= *least ? in_vain + 1 : 0;
      least = std::min(least.value_or(cost_of(last)), cost_of(last));
      if (in_vain == most_in_vain || last.time > longest_stretch * *fastest) {
        return;
      }
    }
  });
}

void InstructionProfiler::measure_beside(int stage, std::string_view instruction, Megahertz clock, const Work& work,
                                         std::string_view including) {
  unless_troubled([&] {
    if (!gpu_) {
      return;
    }
    std::optional<Megahertz> above;
    std::optional<Megahertz> under;
    for (const PipelineMeasurement& one : measurements_) {
      if (one.stage == stage && one.instruction == instruction) {
        if (one.frequency > clock && (!above || one.frequency < *above)) {
          above = one.frequency;
        }
        if (one.frequency < clock && (!under || one.frequency > *under)) {
          under = one.frequency;
        }
      }
    }
    for (const std::optional<Megahertz>& beside : {above, under}) {
      if (!beside) {
        continue;
      }
      const Megahertz wanted = 0.5 * (*beside + clock);
      const Megahertz between =
          *std::ranges::min_element(clocks_, {}, [&](Megahertz one) { return std::abs(one.value() - wanted.value()); });
      if (find(stage, instruction, between) == nullptr &&
          (including.empty() || find(stage, including, between) != nullptr)) {
        measure_at({.stage = stage, .instruction = instruction, .work = work, .including = including}, between);
      }
    }
  });
}

void InstructionProfiler::close() {
  if (const auto gpu = std::exchange(gpu_, nullptr)) {
    try {
      gpu->put_back();
    } catch (const std::exception& error) {
      trouble_ += fmt::format("{}what was found could not be put back: {}", trouble_.empty() ? "" : "; ", error.what());
    }
  }
}

}  // namespace zeus::pacing
