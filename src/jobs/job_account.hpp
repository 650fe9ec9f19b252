// What is shown of a job, folded from its history in addition to the state that decides (job_state.hpp): its last
// recurrences and tries, the cost of all of them, and the savings, in total and by day. Updated entry by entry, and
// saved and restored like the state. The same entries give the same result, however often it was saved in between. A
// value with one owner; one thread at a time.
//
// What the default would have taken instead of a recurrence consists of parts that are known when the recurrence ends,
// and of the default's number of epochs. Each run makes that number more certain, for earlier recurrences too, so sums
// stay open for it until the job is redefined.
#pragma once

#include "base/clock.hpp"
#include "base/state_text.hpp"
#include "jobs/default_runs.hpp"
#include "jobs/job_state.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::jobs {

// A try, as shown to people.
struct TryAccount {
  records::TryView view;

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    auto& view = self.view;
    archive(view.number, view.recurrence, view.batch_size, view.purpose, view.outcome, view.left_out, view.epochs,
            view.metric, view.limit, view.energy, view.time, view.cost, view.budget, view.exit_code, view.device,
            view.host, view.started.microseconds_since_epoch);
    auto ended = view.ended ? std::optional{view.ended->microseconds_since_epoch} : std::nullopt;
    archive(ended);
    if constexpr (!std::is_const_v<Self>) {
      view.ended = ended ? std::optional{WallTime{*ended}} : std::nullopt;
    }
  }
};

// A recurrence, as shown to people, without what the default would have taken instead.
struct RecurrenceAccount {
  records::RecurrenceView view;
  records::JobDevice device;
  std::optional<DefaultParts> parts;  // if it reached the target and they are known
  std::uint64_t era = 0;              // of the definition under which it ended

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    auto& view = self.view;
    archive(view.number, view.state, view.owner, view.device, view.reason, view.tries, view.energy, view.uncertainty,
            view.time, view.cost, view.energy_unknown, view.default_unknown, self.device, self.parts, self.era);
  }
};

class JobAccount {
 public:
  // How many of the last recurrences and tries are kept beside the open ones.
  static constexpr std::size_t usual = 64;
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  // `definition` is normalized. All costs are weighed by `eta`, even from a time when the job weighed them differently,
  // and the recurrences in `left_out` count for nothing, even before they were left out.
  JobAccount(const records::JobDefinition& definition, double eta, std::size_t kept = usual,
             JobState::LeftOut left_out = {});

  // The next entry. One that cannot follow is a corrupt_data Error and changes nothing.
  void apply(const records::JobEntry& entry);

  [[nodiscard]] const JobState& state() const { return state_; }
  [[nodiscard]] double eta() const { return eta_; }
  // Whether that is how the entries so far want it; otherwise they have to be folded again, by an account like this
  // one.
  [[nodiscard]] bool is_up_to_date() const;
  [[nodiscard]] JobAccount begun_again(const records::JobDefinition& first, std::size_t kept = usual) const;

  // Those kept, ascending.
  [[nodiscard]] std::span<const RecurrenceAccount> recurrences() const { return recurrences_; }
  [[nodiscard]] std::span<const TryAccount> tries() const { return tries_; }
  // With what the default would have taken, as known now; `kept` may come from an earlier account of the job.
  [[nodiscard]] records::RecurrenceView shown(const RecurrenceAccount& kept) const;

  // How many tries of a batch size ended in each way, including those left out.
  struct Ended {
    int reached = 0;
    int stopped = 0;  // or exhausted

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.reached, self.stopped);
    }
  };
  [[nodiscard]] Ended ended(int batch_size) const;

  [[nodiscard]] std::uint64_t reached() const { return reached_; }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }
  [[nodiscard]] WallTime changed() const { return WallTime{changed_us_}; }  // when the last entry was written
  // What every try and all measuring took, of open recurrences too.
  [[nodiscard]] records::SpentView spent() const;

  [[nodiscard]] std::optional<records::CountedEpochs> counted() const;
  // Ascending by day.
  [[nodiscard]] std::span<const records::DaySums> days() const { return days_; }
  // The days that changed since the last call; nothing: all of them may have.
  std::optional<std::vector<records::DaySums>> take_changed_days();
  void change_all_days() { changed_days_.reset(); }
  [[nodiscard]] bool has_changed_all_days() const { return !changed_days_; }

  [[nodiscard]] std::optional<records::SavingsView> savings() const;
  [[nodiscard]] std::optional<records::SavingsView> savings_of_last() const;
  [[nodiscard]] std::string savings_unknown() const;

  // How many recurrences and tries had begun before an entry; one for every 1024 entries.
  struct Mark {
    std::uint64_t recurrences = 0;
    std::uint64_t tries = 0;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.recurrences, self.tries);
    }
  };
  static constexpr std::uint64_t entries_between_marks = 1024;
  // The number of entries at the last mark before recurrence `number` began; the recurrence comes after them.
  [[nodiscard]] std::uint64_t entries_before_recurrence(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t entries_before_try(std::uint64_t number) const;

  // Restores exactly. The state is saved separately. restore() needs an account of a job that began with the same
  // definition. A string that save() did not write is a corrupt_data Error, after which the account is unusable.
  [[nodiscard]] std::string save() const;
  void restore(std::string_view state, std::string_view account);

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.changed_us_, self.definition_, self.default_runs_, self.recurrences_, self.tries_, self.ended_,
            self.reached_, self.given_up_, self.took_, self.took_squares_, self.unknown_, self.days_, self.eras_,
            self.last_known_, self.last_open_, self.last_reached_, self.marks_);
  }

 private:
  // The default's number of epochs, as known when the job was redefined; if nothing, the reason.
  struct Era {
    std::optional<records::CountedEpochs> counted;
    std::string unknown;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.counted, self.unknown);
    }
  };
  // A recurrence that reached the target, compared with the default.
  struct Against {
    std::uint64_t order = 0;  // of their ends
    records::Spent took;
    records::Spent doubt;
    DefaultParts parts;
    EpochCount counted;  // if they are final

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.order, self.took, self.doubt, self.parts, self.counted);
    }
  };
  using Counted = std::variant<EpochCount, std::string>;

  [[nodiscard]] int default_size() const { return state_.job().spec().default_batch_size; }
  void define();
  [[nodiscard]] Counted counted_in(std::uint64_t era) const;
  [[nodiscard]] Joules cost_of(const records::JobDevice& device, Joules energy, Seconds time) const;

  RecurrenceAccount& recurrence(std::uint64_t number);
  TryAccount& one_try(std::uint64_t number);
  // Forgets what is over and not among the last ones.
  void forget();
  void compare(RecurrenceAccount& over, const records::TryFinished& finished, WallTime when);
  void count(const RecurrenceAccount& over, WallTime when);
  records::DaySums& day(std::int64_t number, records::CountUnit unit);
  void close_era();

  void note(const records::RecurrenceBegun& begun, WallTime when);
  void note(const records::TryStarted& started, WallTime when);
  void note(const records::ProfileTaken& profiled, WallTime when);
  void note(const records::EpochsRun& run, WallTime when);
  void note(const records::TryFinished& finished, WallTime when);
  void note(const records::RecurrenceGivenUp& given_up, WallTime when);
  void note(const records::DeviceMoved& moved, WallTime when);
  void note(const records::JobRedefined& redefined, WallTime when);
  void note(const records::LateReport& late, WallTime when);
  void note(const records::RecurrenceLeftOut& left_out, WallTime when);
  void charge(RecurrenceAccount& of, Joules energy, const std::optional<records::Energy>& measured, Seconds time);
  void charge_unknown(RecurrenceAccount& of, const std::string& why, Seconds time);

  double eta_;
  std::size_t kept_;
  JobState state_;
  std::int64_t changed_us_ = 0;
  records::JobDefinition definition_;  // of the entries that follow
  DefaultRuns default_runs_;
  std::vector<RecurrenceAccount> recurrences_;
  std::vector<TryAccount> tries_;
  std::map<int, Ended> ended_;  // by batch size
  std::uint64_t reached_ = 0;
  std::uint64_t given_up_ = 0;
  records::Spent took_;
  double took_squares_ = 0.0;
  std::uint64_t unknown_ = 0;  // recurrences
  std::vector<records::DaySums> days_;
  std::optional<std::vector<std::int64_t>> changed_days_;  // nothing: all of them
  std::vector<Era> eras_;                                  // those that are over
  // The last few recurrences that reached the target: those whose default is final, and those of this era in each unit.
  std::vector<Against> last_known_;
  std::array<std::vector<Against>, 2> last_open_;
  std::optional<RecurrenceAccount> last_reached_;  // with the highest number
  std::vector<Mark> marks_;
};

}  // namespace zeus::jobs
