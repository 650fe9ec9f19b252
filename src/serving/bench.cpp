#include "serving/bench.hpp"

#include "serving/figures.hpp"

#include <deque>
#include <utility>

namespace zeus::serving {

namespace {

constexpr Seconds slice_time{0.25};
constexpr const char* slice_window = "zeus llm";

// An energy is settled while later slices run.
class Slices {
 public:
  explicit Slices(Monitor& monitor) : monitor_{&monitor} {}

  void begin() {
    monitor_->begin(slice_window);
    while (unsettled_.size() > 1) {
      settle_oldest();
    }
  }
  void end() { unsettled_.push_back(monitor_->end(slice_window)); }
  std::vector<Slice> take() {
    while (!unsettled_.empty()) {
      settle_oldest();
    }
    return std::move(slices_);
  }

 private:
  void settle_oldest() {
    const Measurement settled = monitor_->settle(unsettled_.front());
    unsettled_.pop_front();
    slices_.push_back({.begin = Instant{} + settled.start,
                       .end = Instant{} + settled.end,
                       .energy = settled.gpu_energy.empty()
                                     ? MeasuredEnergy{.energy = {}, .reason = "no GPU was measured", .remark = {}}
                                     : settled.total_gpu_energy()});
  }

  Monitor* monitor_;
  std::deque<Measurement> unsettled_;
  std::vector<Slice> slices_;
};

}  // namespace

BenchRun run_bench(Traffic& traffic, Monitor& monitor, const Clock& clock, const Pause& pause) {
  BenchRun run{.began = clock.now()};
  Slices slices{monitor};
  bool goes_on = true;
  while (goes_on && !traffic.is_over()) {
    slices.begin();
    goes_on = pause(clock.now() + slice_time);
    slices.end();
  }
  if (!goes_on) {
    traffic.stop();
    run.how = Ended::interrupted;
  } else if (traffic.has_given_up()) {
    run.how = Ended::gave_up;
  }
  run.ended = clock.now();
  run.slices = slices.take();
  run.answers = traffic.take_answers();
  return run;
}

void put_figures(const BenchRun& run, BenchResult& result) {
  result.start_monotonic = run.began - Instant{};
  result.ended = run.how;
  result.time = run.ended - run.began;
  result.answers = answer_counts(run.answers, result.rate.has_value());
  result.steady = steady_figures(run.slices, run.answers, run.began);
}

}  // namespace zeus::serving
