// What a run of the default (its batch size, under the highest limit) would have taken instead of a recurrence: a start
// and a number of epochs, with a 95 % interval. Learned from a job's tries in the order in which they ended.
//
// The costs of starts and epochs are those known when the recurrence ended, so that a job that changes is compared with
// itself. The number of epochs is partly luck: it is the mean over all runs of the default so far. Each new run makes
// it more certain, for earlier recurrences too. A value; one thread.
#pragma once

#include "base/state_text.hpp"
#include "jobs/scatter.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::jobs {

using records::Spent;
using records::together;

struct DefaultRun {
  Spent value;
  // The half-width that each part contributes. A part's error is much the same in all recurrences.
  Spent by_start;
  Spent by_epoch;
  Spent by_count;

  [[nodiscard]] Spent half_width() const { return together(together(by_start, by_epoch), by_count); }

  friend DefaultRun operator+(const DefaultRun& a, const DefaultRun& b) {
    return {.value = a.value + b.value,
            .by_start = a.by_start + b.by_start,
            .by_epoch = a.by_epoch + b.by_epoch,
            .by_count = a.by_count + b.by_count};
  }
};

// What the length of a training is counted in. If no epochs are reported, the whole training counts as one, and its
// length is counted in seconds: those that it would take under the highest limit.
using Unit = records::CountUnit;

// A default run, without its number of epochs.
struct DefaultParts {
  Unit unit = Unit::epoch;
  Spent start;
  Spent start_half_width;
  Spent epoch;                    // or of a second; zero if the whole run is its start
  double epoch_half_width = 0.0;  // relative

  [[nodiscard]] bool has_epochs() const { return epoch.time > Seconds{}; }

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.unit, self.start, self.start_half_width, self.epoch, self.epoch_half_width);
  }
};

// The mean number of epochs to the target.
using EpochCount = records::CountedEpochs;

DefaultRun default_run(const DefaultParts& parts, const EpochCount& epochs);

class DefaultRuns {
 public:
  // All costs are weighed by `eta`, even from a time when the job weighed them differently.
  explicit DefaultRuns(double eta) : eta_{eta} {}

  // Trainings take another number of epochs from now on, for example because the target changed: forgets the counts.
  void define(int default_size, bool has_target);
  // Another batch size is the default from now on; the counts stay.
  void choose(int default_size);

  // `limits` are those known for the try's batch size on these devices, this try included.
  void learn(const records::JobDevice& device, const records::TryFinished& finished,
             std::span<const records::LimitProfile> limits);

  // The default run to compare with a recurrence that ended with this try, which must have been learned. `limits` are
  // those of the default batch size on the same devices. Otherwise the reason why there is none.
  [[nodiscard]] std::variant<DefaultParts, std::string> parts(const records::JobDevice& device,
                                                              const records::TryFinished& finished,
                                                              std::span<const records::LimitProfile> limits) const;

  // What is known now. Otherwise the reason why it is unknown.
  [[nodiscard]] std::variant<EpochCount, std::string> epochs() const;
  // The same, or else a rough number after a run of that batch size; nothing if there is not even that.
  [[nodiscard]] std::optional<EpochCount> likely_epochs(int batch_size) const;

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.eta_, self.default_size_, self.on_, self.has_target_, self.unit_, self.lengths_, self.length_on_);
  }

 private:
  // The runs of one batch size on one kind of device.
  struct Runs {
    std::vector<std::pair<Seconds, Joules>> starts;     // the latest
    std::optional<records::WholeEpochs> latest_epochs;  // the latest that were measured

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.starts, self.latest_epochs);
    }
  };
  struct On {
    records::JobDevice device;
    std::map<int, Runs> sizes;
    // Whole runs of the default, in joules and seconds: all there is if nothing inside a run was measured.
    Scatter default_energy;
    Scatter default_time;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.device, self.sizes, self.default_energy, self.default_time);
    }
  };

  void count(const records::JobDevice& device, const records::TryFinished& finished,
             std::span<const records::LimitProfile> limits);
  On& on(const records::JobDevice& device);
  [[nodiscard]] bool ran_default(const records::JobDevice& device, const records::TryFinished& finished) const;
  [[nodiscard]] Spent spent(const records::JobDevice& device, Joules energy, Seconds time) const;
  [[nodiscard]] std::optional<std::pair<Spent, Spent>> start(const On& on) const;
  [[nodiscard]] double hidden_deviation_of_run() const;

  double eta_;
  int default_size_ = 0;
  std::vector<On> on_;
  bool has_target_ = false;
  Unit unit_ = Unit::second;
  std::map<int, Scatter> lengths_;               // of the runs that reached the target, by batch size
  std::optional<records::JobDevice> length_on_;  // on which seconds were counted
};

}  // namespace zeus::jobs
