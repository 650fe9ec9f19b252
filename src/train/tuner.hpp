// Tunes the GPUs of a training while it runs. Carries out the requests of the just-in-time profiler, in this process
// and in step with the other ranks. Keeps the optimum in force, or, observing, puts everything back. Leaves GPUs alone
// that it may not set. Never throws because of devices, leases or other ranks: it then stops optimizing and says why.
// One thread; the arguments outlive it.
#pragma once

#include "optimize/power_limit/profiler.hpp"
#include "records/power_profile.hpp"
#include "train/drift_watch.hpp"
#include "train/slice_window.hpp"
#include "train/tuner_parts.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zeus::train {

class Tuner {
 public:
  explicit Tuner(const TunerParts& parts);

  // Begins to profile, from `known` if there is one. `again` is the reason if it begins a second time.
  void begin(std::optional<std::uint64_t> batch_size, const std::optional<records::PowerProfile>& known,
             const std::string& again);
  // Sets this for good, in place of profiling. If a GPU refuses it, everything is as it was found.
  void hold(const records::PowerSetting& setting);
  // Asks whether what was set is still in force. If it is lost, or a lessor that is away cannot say so, the setting
  // counts as lost from now on.
  void confirm();
  // A boundary between steps; `over` steps have ended since the last one.
  void step(std::uint64_t over);
  // There are no more steps in this epoch; `over` says whether one ends now.
  void end_steps(bool over);
  // Call it before an epoch: resumes what a lost lease has interrupted, as step() does.
  void begin_epoch();
  // Puts everything back for good; warns with the reason if there is one.
  void stop(const std::string& why) { stop(why, State::left); }
  // The same without a warning, if nothing is wrong.
  void leave(const std::string& why) { leave(why, State::left); }
  void put_back();

  [[nodiscard]] bool profiling() const { return state_ == State::profiling; }
  // Why profiling began another time; empty the first time.
  [[nodiscard]] const std::string& again() const { return again_; }
  [[nodiscard]] bool holding() const { return held_.has_value(); }
  // Whether the optimum, or the setting to hold, is in force.
  [[nodiscard]] bool applied() const { return state_ == State::in_force; }
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const;
  [[nodiscard]] records::PowerProfile profile() const;
  // Why the GPUs are left alone; empty while they are not.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  // What went wrong in this process and is not yet known to the other ranks; mostly empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] std::uint64_t profiling_steps() const { return profiling_steps_; }
  [[nodiscard]] Seconds profiling_time() const { return profiling_time_; }
  [[nodiscard]] std::optional<double> drift() const { return watch_.drift(); }
  // Whether slices have been measured since the last call.
  [[nodiscard]] bool profiled() { return std::exchange(profiled_, false); }

 private:
  enum class State {
    idle,  // nothing has begun
    profiling,
    as_found,     // profiling is over, or the setting to hold was refused
    in_force,     // the optimum, or the setting to hold
    interrupted,  // by a lost lease: as found, until the next step or epoch, or until a lessor is back
    left,         // as found, for good
  };

  template <typename Body>
  void guarded(Body&& body);
  void carry_out(optimize::ProfilerActions actions);
  [[nodiscard]] std::optional<optimize::ProfilerActions> carry_out(const optimize::ProfilerAction& action);
  [[nodiscard]] std::optional<optimize::ProfilerActions> set(const records::PowerSetting& setting, bool optimum);
  [[nodiscard]] optimize::ProfilerActions refused(const records::PowerSetting& setting, const std::string& why);
  [[nodiscard]] optimize::ProfilerActions close_window();
  [[nodiscard]] bool sweeps() const;
  [[nodiscard]] bool is_too_soon(Instant now);
  void note_end_of_profiling();
  void in_slices(bool now);
  void watch_from_now();
  // Whether a lessor that was away gives leases again; asked with growing pauses.
  [[nodiscard]] bool lessor_is_back();
  void wait_for_lessor(const std::string& why);
  // Whether a lost lease or an absent lessor has interrupted what can go on now.
  [[nodiscard]] bool may_resume();
  void resume();
  void renew();
  // Leaves the GPUs alone if another program has changed what is held.
  void look_after_held();
  void stop(const std::string& why, State state);
  void leave(const std::string& why, State state);
  [[nodiscard]] bool is_left() const { return state_ == State::left || state_ == State::interrupted; }

  TunerParts parts_;
  State state_ = State::idle;
  std::string why_not_;  // set in `interrupted` and `left`
  std::string trouble_;
  std::string again_;
  bool lessor_away_ = false;  // in `interrupted`: the reason
  Instant ask_lessor_at_;
  Seconds lessor_pause_;
  Instant retake_at_;
  std::unique_ptr<optimize::Profiler> profiler_;
  std::optional<records::PowerSetting> held_;  // in place of the optimum
  std::optional<std::uint64_t> batch_size_;
  SliceWindow window_;
  records::PowerSetting slice_setting_;
  bool measured_anything_ = false;
  bool profiled_ = false;
  bool refusal_said_ = false;
  bool lengthening_said_ = false;
  std::uint64_t profiling_steps_ = 0;
  Seconds profiling_time_;
  std::optional<Instant> in_slices_since_;
  DriftWatch watch_;
  std::optional<Instant> last_boundary_;
  Instant tuned_at_;           // the last boundary reported to the profiler
  std::uint64_t pending_ = 0;  // steps since then
};

}  // namespace zeus::train
