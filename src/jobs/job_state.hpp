// A job's history, folded: the running recurrences and their owners, the next numbers, what is known of each device,
// and the optimize::RecurringJob that decides. A pure function of the entries applied; it holds no clock and no store.
// A value with one owner; one thread at a time.
#pragma once

#include "base/state_text.hpp"
#include "optimize/recurrence/judgement.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::jobs {

// A try that was started and whose end is not on record, with its known progress.
struct RunningTry {
  std::uint64_t number = 0;
  int batch_size = 0;
  int max_epochs = 0;
  std::optional<Joules> budget;
  int epochs = 0;
  Joules energy;
  Joules uncertainty;  // of the energy
  Seconds time;
  optimize::EpochCosts costs;  // from the epochs it reported

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.number, self.batch_size, self.max_epochs, self.budget, self.epochs, self.energy, self.uncertainty,
            self.time, self.costs);
  }
};

struct OpenRecurrence {
  std::uint64_t number = 0;
  records::JobOwner owner;
  records::JobDevice device;
  std::optional<RunningTry> running;
  std::vector<int> missed;  // the batch size of each try that missed the target, including those left out
  std::string user;         // only they may report on it; empty if users are not checked
  std::optional<Seconds> lease;
  int tries = 0;                 // started
  std::uint64_t last_entry = 0;  // about it; shows that its owner lives

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.number, self.owner, self.device, self.running, self.missed, self.user, self.lease, self.tries,
            self.last_entry);
  }
};

// A try that is over, kept for a while for late reports.
struct PastTry {
  RunningTry last;  // as known before its end; if it was lost, updated by late reports
  std::uint64_t recurrence = 0;
  std::string user;
  Watts max_power;  // of its devices
  records::TryOutcome outcome = records::TryOutcome::lost;
  std::optional<records::TryOutcome> told;  // of a lost try: how a late report says it ended

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.last, self.recurrence, self.user, self.max_power, self.outcome, self.told);
  }
};

// Sorted, so that equal jobs compare equal. An impossible definition is an invalid_argument Error.
records::JobDefinition normalized(records::JobDefinition definition);

class JobState {
 public:
  // Recurrences that were left out by hand, each with the reason.
  using LeftOut = std::map<std::uint64_t, std::string>;

  // `definition` is normalized. Nothing is learned from the recurrences in `left_out`, from the first entry on.
  explicit JobState(const records::JobDefinition& definition, LeftOut left_out = {});

  // The next entry. One that cannot follow is a corrupt_data Error and changes nothing.
  void apply(const records::JobEntry& entry);

  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }        // of the last entry; 0 before the first
  [[nodiscard]] std::uint64_t recurrences() const { return recurrences_; }  // begun so far: the next one's number
  [[nodiscard]] std::uint64_t tries() const { return tries_; }              // started so far: the next one's number
  [[nodiscard]] const records::JobDevice& device() const { return device_; }
  // The definition now.
  [[nodiscard]] const records::JobDefinition& definition() const { return definition_; }
  [[nodiscard]] const optimize::RecurringJob& job() const { return job_; }
  [[nodiscard]] std::span<const OpenRecurrence> open() const { return open_; }
  // Whether any try has reached the target under this definition, including those left out.
  [[nodiscard]] bool ever_reached() const { return ever_reached_; }
  // Nothing if it is over or never began.
  [[nodiscard]] const OpenRecurrence* find(std::uint64_t recurrence) const;
  // The recurrence whose running try has that number; nothing if there is none.
  [[nodiscard]] const OpenRecurrence* find_running(std::uint64_t try_number) const;
  // One of the last tries that ended; nothing otherwise.
  [[nodiscard]] const PastTry* find_past(std::uint64_t try_number) const;
  // The longest epoch reported by any try.
  [[nodiscard]] std::optional<Seconds> longest_epoch() const { return longest_epoch_; }
  // Those that teach nothing here, and those that the entries so far have left out. If they differ, the history has to
  // be folded again without them.
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }
  [[nodiscard]] const LeftOut& left_out_on_record() const { return left_out_on_record_; }
  // How many entries are kept to learn from again.
  [[nodiscard]] std::size_t lessons() const { return lessons_.size(); }
  // Why a recurrence teaches nothing; null if it counts.
  [[nodiscard]] const std::string* why_left_out(std::uint64_t recurrence) const;
  // The limits measured at a batch size on some devices, ascending; empty if there are none.
  [[nodiscard]] std::vector<records::LimitProfile> limits(const records::JobDevice& device, int batch_size) const;
  // The time of the last whole run at a batch size on the current devices.
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const;
  // The cost of energy and time on devices with this maximum power, as the job weighs them now.
  [[nodiscard]] Joules cost_on(Watts max_power, Joules energy, Seconds time) const;

  // The key of this job's snapshots: they are valid only for the version of the policy that it began with and for this
  // format.
  [[nodiscard]] std::string snapshot_key() const;
  [[nodiscard]] std::string save() const;
  // Call on a fresh state of the same definition. A string that save() did not write is a corrupt_data Error, after
  // which the state is unusable.
  void restore(std::string_view text);

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.sequence_, self.recurrences_, self.tries_, self.device_.model, self.device_.gpus,
            self.device_.max_power, self.device_.power_limits, self.ever_reached_, self.open_, self.past_,
            self.longest_epoch_, self.books_, self.lessons_, self.earlier_, self.left_out_, self.left_out_on_record_);
  }

 private:
  // What was measured on one kind of device, kept in case the job returns to it.
  struct Page {
    int batch_size = 0;
    std::vector<records::LimitProfile> limits;
    std::optional<Seconds> run_time;  // of the last whole run

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.batch_size, self.limits, self.run_time);
    }
  };
  struct Book {
    records::JobDevice device;
    std::vector<Page> pages;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.device.model, self.device.gpus, self.device.max_power, self.device.power_limits, self.pages);
    }
  };
  void check(const records::JobEntry& entry) const;
  void keep_lesson(const records::JobEntryBody& body);
  void note_life(const records::JobEntry& entry);
  // Call on a fresh state of another definition.
  void learn_from(const JobState& former);
  void learn(const records::JobEntryBody& lesson);
  // A training's totals so far, on devices with this maximum power.
  void follow(std::uint64_t recurrence, RunningTry& training, const records::TryProgress& now, Watts max_power);
  [[nodiscard]] bool here(std::uint64_t recurrence) const;
  OpenRecurrence& open(std::uint64_t recurrence);
  void close(std::uint64_t recurrence);
  void remember(const records::JobDevice& device, const records::LimitsMeasured& measured);
  // What is kept for a batch size on these devices; creates it if there is none.
  Page& page(const records::JobDevice& device, int batch_size);
  [[nodiscard]] const Page* find_page(const records::JobDevice& device, int batch_size) const;
  void follow(int batch_size, const records::WholeEpochs& whole);
  void note_epochs(std::uint64_t recurrence, const RunningTry& before, int epochs, Seconds time);
  void recall();

  void take(const records::RecurrenceBegun& begun);
  void take(const records::TryStarted& started);
  void take(const records::ProfileTaken& profiled);
  void take(const records::EpochsRun& run);
  void take(const records::TryFinished& finished);
  void take(const records::RecurrenceGivenUp& given_up);
  void take(const records::DeviceMoved& moved);
  void take(const records::JobRedefined& redefined);
  void take(const records::LateReport& late);
  void take(const records::RecurrenceLeftOut& left_out);

  records::JobDefinition definition_;
  optimize::RecurringJob job_;
  std::string snapshot_key_;
  std::uint64_t sequence_ = 0;
  std::uint64_t recurrences_ = 0;
  std::uint64_t tries_ = 0;
  records::JobDevice device_;
  bool ever_reached_ = false;
  std::vector<OpenRecurrence> open_;
  std::vector<PastTry> past_;  // the latest, in the order of their ends
  std::optional<Seconds> longest_epoch_;
  std::vector<Book> books_;
  // The last few hundred entries, to learn from again when the job is redefined, and the definition and the devices
  // before them.
  std::vector<records::JobEntryBody> lessons_;
  records::JobDefinition earlier_;
  LeftOut left_out_;
  LeftOut left_out_on_record_;
};

}  // namespace zeus::jobs
