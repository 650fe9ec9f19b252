// What a run of the default (its batch size, under the highest limit) would have taken in the place of a recurrence: a
// start and so many epochs, with a 95 % interval. Learned from a job's tries in the order in which they ended.
//
// What starts and epochs took is as it was known when the recurrence ended, so that a job that changes is compared with
// itself. How many epochs the default takes is luck as well: it is the mean over all of its runs so far, and better
// known with each of them, for earlier recurrences too. A value; one thread.
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
  // Half-widths of what its parts bring. Each is much the same error in all recurrences.
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

// What the length of a training is counted in. Where nothing tells of epochs, all of it is one, and seconds take their
// place: those that it would take under the highest limit.
using Unit = records::CountUnit;

// A default run, but for how many epochs it has.
struct DefaultParts {
  Unit unit = Unit::epoch;
  Spent start;
  Spent start_half_width;
  Spent epoch;                    // or second; nothing where the start is all that a run takes
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
  // Costs are weighed by `eta`, also those of a time when the job weighed them differently.
  explicit DefaultRuns(double eta) : eta_{eta} {}

  // Trainings take other epochs from now on, as towards another target: what was counted is forgotten.
  void define(int default_size, bool has_target);
  // Another batch size is the default from now on, and what was counted stays.
  void choose(int default_size);

  // `limits` are those of the try's batch size on these devices, as they are known with it.
  void learn(const records::JobDevice& device, const records::TryFinished& finished,
             std::span<const records::LimitProfile> limits);

  // In the place of a recurrence that ended with this try, which has been learned; `limits` are those of the default
  // batch size on the same devices. Otherwise why not.
  [[nodiscard]] std::variant<DefaultParts, std::string> parts(const records::JobDevice& device,
                                                              const records::TryFinished& finished,
                                                              std::span<const records::LimitProfile> limits) const;

  // As known now. Otherwise why not.
  [[nodiscard]] std::variant<EpochCount, std::string> epochs() const;
  // The same as well as it can be said after a run of that batch size, for want of better; nothing where even that is
  // not known.
  [[nodiscard]] std::optional<EpochCount> likely_epochs(int batch_size) const;

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.eta_, self.default_size_, self.on_, self.has_target_, self.unit_, self.lengths_, self.length_on_);
  }

 private:
  // Of a batch size, on one kind of devices.
  struct Runs {
    std::vector<std::pair<Seconds, Joules>> starts;     // the latest ones
    std::optional<records::WholeEpochs> latest_epochs;  // seen

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.starts, self.latest_epochs);
    }
  };
  struct On {
    records::JobDevice device;
    std::map<int, Runs> sizes;
    // Of whole runs of the default, in joules and seconds: what there is where nothing inside a run was seen.
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
  std::map<int, Scatter> lengths_;               // of the runs that reached, by batch size
  std::optional<records::JobDevice> length_on_;  // that seconds were counted on
};

}  // namespace zeus::jobs
