#include "pacing/instruction_profiler.hpp"

#include "base/student_quantile.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <utility>

namespace zeus::pacing {

namespace {

// The first round's clocks are this share of the highest one apart.
constexpr double wide_step = 0.07;
// A clock at which an instruction takes longer than this, relative to the highest one, is of no use to a plan.
constexpr double longest_stretch = 2.2;
// Slower clocks are given up after so many in a row that clearly cost more than the cheapest.
constexpr int most_in_vain = 2;
// Times are compared between so many parts of a window.
constexpr std::size_t parts = 4;
constexpr double most_times = 1e6;
// A window whose parts differ by more than this share is repeated, since something else was in the way.
constexpr double too_uneven = 0.02;
constexpr int most_windows = 3;
// A clock that was just locked settles for this share of a window: GPUs take 5 to 50 ms.
constexpr double settling = 0.2;
// What a window leaves unknown is measured again in longer ones.
constexpr int most_tries = 3;
constexpr double longer = 4.0;

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

bool is_measurable(const std::optional<PipelineMeasurement>& once) {
  return once && once->time > Seconds{0} && once->energy > Joules{0};
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
    if (metered.energy && taken > Seconds{0}) {
      blocking_ = *metered.energy / taken;
    }
  });
  return blocking_;
}

PipelineMeasurement* InstructionProfiler::find(int stage, std::string_view instruction, Megahertz clock) {
  const auto known = std::ranges::find_if(measurements_, [&](const PipelineMeasurement& one) {
    return one.stage == stage && one.instruction == instruction && one.frequency == clock;
  });
  return known == measurements_.end() ? nullptr : &*known;
}

Joules InstructionProfiler::cost_of(const PipelineMeasurement& measurement) const {
  return measurement.energy - blocking_.value_or(Watts{0}) * measurement.time;
}

// By more than their intervals allow: clocks that a power limit makes alike differ by noise.
bool InstructionProfiler::costs_more(const PipelineMeasurement& one, const PipelineMeasurement& other) const {
  return cost_of(one) - cost_of(other) > both(one.energy_uncertainty, other.energy_uncertainty);
}

// Runs until the clock has settled. Returns what one run takes.
Seconds InstructionProfiler::warm_up(const Work& work) {
  const auto run = [&](double times) { run_callers([&] { work(static_cast<int>(times)); }); };
  const Instant begin = clock_.now();
  run(1);
  const Instant tried = clock_.now();
  run(1);
  const Instant now = clock_.now();
  const Seconds once = std::max(now - tried, Seconds{1e-6});
  if (const Seconds left = settling * window_ - (now - begin); left > Seconds{0}) {
    run(std::min(std::ceil(left / once), most_times));
  }
  return once;
}

// One window, in parts whose times are compared.
InstructionProfiler::Repeated InstructionProfiler::repeat(const Subject& subject, Megahertz clock, int times) {
  std::array<double, parts> each{};
  gpu_->begin_window();
  for (double& seconds : each) {
    const Instant begin = clock_.now();
    run_callers([&] { subject.work(times); });
    seconds = (clock_.now() - begin).value() / times;
  }
  const MeteredWindow metered = gpu_->end_window();
  if (!metered.energy) {
    return {.once = std::nullopt, .reason = metered.reason};
  }
  const double runs = times * static_cast<double>(parts);
  const auto [time, time_uncertainty] = mean_of(each);
  // Another window would last as much longer or shorter, and draw power meanwhile.
  const double spread = time > 0 ? time_uncertainty / time : 0.0;
  return {.once = PipelineMeasurement{.stage = subject.stage,
                                      .instruction = std::string{subject.instruction},
                                      .frequency = clock,
                                      .time = Seconds{time},
                                      .time_uncertainty = Seconds{time_uncertainty},
                                      .energy = *metered.energy / runs,
                                      .energy_uncertainty = both(metered.uncertainty, *metered.energy * spread) / runs},
          .reason = {}};
}

InstructionProfiler::Repeated InstructionProfiler::steadiest(const Subject& subject, Megahertz clock, Seconds once,
                                                             Seconds window) {
  const int times =
      static_cast<int>(std::clamp(std::ceil(window / once / static_cast<double>(parts)), 1.0, most_times));
  Repeated best = repeat(subject, clock, times);
  for (int windows = 1; windows < most_windows; ++windows) {
    if (best.once && best.once->time_uncertainty <= too_uneven * best.once->time) {
      break;
    }
    Repeated again = repeat(subject, clock, times);
    if (again.once && (!best.once || again.once->time_uncertainty < best.once->time_uncertainty)) {
      best = std::move(again);
    }
  }
  return best;
}

// What is left without the instruction that each run includes. With `again`, that one is measured again in windows as
// long: something may have disturbed it before.
InstructionProfiler::Repeated InstructionProfiler::without_part(const Subject& subject, PipelineMeasurement whole,
                                                                std::optional<Seconds> again) {
  PipelineMeasurement& part = *find(subject.stage, subject.including, whole.frequency);
  const auto work = works_.find({subject.stage, std::string{subject.including}});
  if (again && work != works_.end()) {
    const Subject alone{
        .stage = subject.stage, .instruction = subject.including, .work = work->second, .including = {}};
    Repeated repeated = steadiest(alone, whole.frequency, part.time, *again);
    if (!is_measurable(repeated.once)) {
      return {.once = std::nullopt, .reason = std::move(repeated.reason)};
    }
    part = *std::move(repeated.once);
  }
  whole.time -= part.time;
  whole.energy -= part.energy;
  whole.time_uncertainty = both(whole.time_uncertainty, part.time_uncertainty);
  whole.energy_uncertainty = both(whole.energy_uncertainty, part.energy_uncertainty);
  return {.once = std::move(whole), .reason = {}};
}

void InstructionProfiler::measure_at(const Subject& subject, Megahertz clock) {
  gpu_->lock(clock);
  const Seconds once = warm_up(subject.work);
  Seconds window = window_;
  std::string reason;
  for (int tries = 0; tries < most_tries; ++tries, window = longer * window) {
    Repeated repeated = steadiest(subject, clock, once, window);
    if (repeated.once && !subject.including.empty()) {
      repeated = without_part(subject, *std::move(repeated.once), tries > 0 ? std::optional{window} : std::nullopt);
    }
    if (is_measurable(repeated.once)) {
      measurements_.push_back(*std::move(repeated.once));
      return;
    }
    reason = repeated.reason.empty() ? "it takes no measurable time or energy" : std::move(repeated.reason);
  }
  throw Error{ErrorKind::unavailable,
              fmt::format("'{}' of stage {} cannot be measured at {} MHz, even when it is repeated for {} s: {}",
                          subject.instruction, subject.stage, clock.value(), (window / longer).value(), reason)};
}

void InstructionProfiler::measure(int stage, std::string_view instruction, const Work& work,
                                  std::string_view including) {
  unless_troubled([&] {
    if (!gpu_) {
      return;
    }
    const Subject subject{.stage = stage, .instruction = instruction, .work = work, .including = including};
    if (including.empty()) {
      works_.insert_or_assign({stage, std::string{instruction}}, work);
    }
    const std::size_t first = measurements_.size();
    std::size_t cheapest = first;
    int in_vain = 0;
    Megahertz below = clocks_.front();
    for (const Megahertz clock : clocks_) {
      if (clock > below || (!including.empty() && find(stage, including, clock) == nullptr)) {
        continue;
      }
      below = clock - wide_step * clocks_.front();
      measure_at(subject, clock);
      const PipelineMeasurement& last = measurements_.back();
      in_vain = costs_more(last, measurements_[cheapest]) ? in_vain + 1 : 0;
      if (cost_of(last) < cost_of(measurements_[cheapest])) {
        cheapest = measurements_.size() - 1;
      }
      if (in_vain == most_in_vain || last.time > longest_stretch * measurements_[first].time) {
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
  works_.clear();
  if (const auto gpu = std::exchange(gpu_, nullptr)) {
    try {
      gpu->put_back();
    } catch (const std::exception& error) {
      trouble_ += fmt::format("{}what was found could not be put back: {}", trouble_.empty() ? "" : "; ", error.what());
    }
  }
}

}  // namespace zeus::pacing
