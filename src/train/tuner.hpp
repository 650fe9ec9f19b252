// Tunes the GPUs of a training while it goes on: carries out what the just-in-time profiler asks for, in this process
// and in step with the other ranks; keeps the optimum in force, or, observing, puts everything back; leaves the GPUs
// alone when it may not set them. Never throws because of devices, leases or other ranks: it then stops optimizing and
// says why. One thread; what it is given outlives it.
#pragma once

#include "base/clock.hpp"
#include "optimize/power_limit/profiler.hpp"
#include "records/power_profile.hpp"
#include "train/account.hpp"
#include "train/drift_watch.hpp"
#include "train/fleet.hpp"
#include "train/gpu_group.hpp"
#include "train/herald.hpp"
#include "train/meter.hpp"
#include "train/ranks.hpp"

#include <zeus/training_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zeus::train {

class Tuner {
 public:
  struct Parts {
    const TrainingOptions& options;
    GpuGroup& group;
    Meter* meter;  // null without GPUs
    Ranks& ranks;
    Account& account;
    Herald& herald;
    Clock& clock;
  };
  Tuner(const Parts& parts, Fleet fleet);

  // Begins anew, from what is known where something is. `again` says why, the second time.
  void begin(std::optional<std::uint64_t> batch_size, const std::optional<records::PowerProfile>& known,
             const std::string& again);
  // Puts this in force for good, in place of what was begun. Refused, everything is as it was found.
  void hold(const records::PowerSetting& setting);
  // A boundary between steps, `over` of which have passed since the last one.
  void step(std::uint64_t over);
  // No more steps in this epoch; `over` says that one ends now.
  void end_steps(bool over);
  // Before an epoch: takes up again what a lost lease has interrupted.
  void begin_epoch();
  // Everything as it was found, for good; says why when it is not the ordinary end.
  void stop(const std::string& why);
  // The same where that is as it should be, and no reason to warn.
  void leave(const std::string& why);
  void put_back();

  [[nodiscard]] bool profiling() const {
    return task_ == Task::profile && profiler_ && !profiler_->done() && why_not_.empty();
  }
  [[nodiscard]] bool holding() const { return task_ == Task::hold; }
  [[nodiscard]] bool has_begun() const { return task_ != Task::none; }
  [[nodiscard]] bool applied() const { return applied_; }
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const;
  [[nodiscard]] records::PowerProfile profile() const;
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  // What is wrong in this process alone, and yet to be told to the other ranks; empty mostly.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] std::uint64_t profiling_steps() const { return profiling_steps_; }
  [[nodiscard]] Seconds profiling_time() const { return profiling_time_; }
  [[nodiscard]] std::optional<double> drift() const { return watch_.drift(); }
  // Slices have been measured since the last time it was asked.
  [[nodiscard]] bool profiled() { return std::exchange(profiled_, false); }

 private:
  enum class Task { none, profile, hold };
  enum class Status { done, refused, hopeless };

  template <typename Body>
  void guarded(Body&& body);
  void carry_out(optimize::ProfilerActions actions);
  [[nodiscard]] std::optional<optimize::ProfilerActions> carry_out(const optimize::ProfilerAction& action);
  [[nodiscard]] std::optional<optimize::ProfilerActions> set(const records::PowerSetting& setting, bool optimum);
  [[nodiscard]] Status try_to_set(const records::PowerSetting& setting, std::string& why);
  void open_window();
  [[nodiscard]] optimize::ProfilerActions close_window();
  void cancel_window();
  // A window in the form in which ranks exchange it.
  struct Reading {
    enum Largest : std::size_t { time, capped, method, lost, steps, largest_count };
    enum Sum : std::size_t { energy, variance, systematic, systematic_unknown, sum_count };
    std::array<double, largest_count> largest{};
    std::array<double, sum_count> sums{};
    std::string why_lost;

    void lose(const std::string& why);
    void add(const Energy& its);
  };
  [[nodiscard]] Reading end_window();
  [[nodiscard]] optimize::SliceReading read_window(std::string& why_lost);
  bool take_up_again();
  void note_end_of_profiling();
  void in_slices(bool now);
  void watch_from_now();
  [[nodiscard]] std::optional<records::PowerSetting> predicted_from() const;
  [[nodiscard]] std::unique_ptr<optimize::PowerLimitPlan> plan_for(const std::optional<records::PowerProfile>& known);
  void renew();

  Parts parts_;
  Fleet fleet_;
  Task task_ = Task::none;
  std::optional<records::PowerSetting> held_;  // unless it was refused
  std::optional<std::uint64_t> batch_size_;
  std::unique_ptr<optimize::Profiler> profiler_;
  bool end_noted_ = false;
  bool measured_anything_ = false;
  bool applied_ = false;
  bool profiled_ = false;
  bool lease_lost_ = false;
  bool refusal_said_ = false;
  std::string why_not_;
  std::string trouble_;
  std::optional<Watts> enforced_;
  records::PowerSetting slice_setting_;
  bool window_open_ = false;
  std::string window_broken_;  // why, when it is
  std::uint64_t window_boundaries_ = 0;
  std::uint64_t window_steps_ = 0;
  std::vector<std::optional<Seconds>> capped_at_open_;
  std::optional<Instant> in_slices_since_;
  std::uint64_t profiling_steps_ = 0;
  Seconds profiling_time_;
  DriftWatch watch_;
  std::optional<Instant> last_boundary_;
  Instant tuned_at_;           // the last boundary that the profiler was told of
  std::uint64_t pending_ = 0;  // steps since then
};

}  // namespace zeus::train
