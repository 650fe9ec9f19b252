// A recurring job that runs in this process: reads its history, decides, assigns numbers, records. `zeus run` and the
// server use it alike; the simulator uses the same optimize::RecurringJob. One thread at a time unless stated
// otherwise; any number of processes may run the same job at once, and each decision sees exactly the entries before
// its own.
//
//   jobs::Job job = jobs::Job::open(store, site, "bert", definition);
//   jobs::Recurrence recurrence = job.begin(device);
//   while (true) {
//     const jobs::Step step = recurrence.next();       // durable when it returns
//     if TryStarted:   start the command; profiled() after measuring limits; epochs() now and then; finished()
//                      - reached: the recurrence is over; otherwise call next() again
//     if ProfileAsked:  start the command at that batch size, measure these limits while it trains, profiled(), and
//     call
//                      next() again: if it says to run the same batch size, let the same process continue (and pass
//                      profiled() no charge, because the training is kept); otherwise stop it and charge its cost
//     if FailedTries:  the job has failed too often, or would only repeat what failed; the recurrence is over
//   }
//
// A server does the same for clients that run recurrences elsewhere, request by request: begin() with the client's
// identity, then resume(number) and one call each. A request's key is kept with the entry that it made, so a repeated
// request changes nothing and gets the same answer from every server. A training that only reports its epochs and waits
// for the order to stop gets its tries from issue() and is judged by report().
//
// Every call that records is durable when it returns. Errors, always a zeus::Error:
// - conflict: another process gave this recurrence up because it saw no beat of it, or the recurrence is over. What was
//   to be recorded is not. The store is fine.
// - invalid_argument: the report is impossible: no try is running, epochs go back, energies fall, or the request's key
//   belongs to another request.
// - not_found: no such recurrence has begun, or no such try was started.
// - what the store throws (job_store.hpp): unavailable for a full disk, permission_denied, timeout, corrupt_data. The
//   training may continue unrecorded: after such a failure every later call may be tried again.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "records/try_report.hpp"
#include "store/job_store.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::jobs {

// This place and process. Must outlive what is opened with it.
struct Site {
  Clock& clock;
  FileTree machine;         // whose /proc shows which owners are alive
  records::JobOwner owner;  // of the recurrences begun here
};

// This process on this machine.
Site this_site(Clock& clock, const FileTree& machine);

// The longest name of a job, in bytes.
inline constexpr std::size_t longest_job_name = 200;

// Run one try, which is on record as started, with its reason; measure limits and record them with profiled(), then ask
// again; or the recurrence is over, and on record as given up.
using Step = std::variant<records::TryStarted, records::ProfileAsked, records::FailedTries>;

// A remote request: its user, its key (unique within the job), and what it asks for. An empty key means none.
using Request = records::EntryRequest;

// Who carries out a recurrence that is begun for a remote client.
struct Beginning {
  records::JobOwner owner;
  std::string user;              // only they may report on it; empty if users are not checked
  std::optional<Seconds> lease;  // how long the owner may be silent; the usual lease if absent
  Request request;
};

// Whether a training that reports its epochs goes on, and otherwise how its try ended.
struct EpochAnswer {
  std::optional<records::TryOutcome> outcome;  // nothing: it goes on
  bool decided_before = false;                 // by another report, or because it was given up
};

// Part of a list whose items are numbered from 1.
struct Page {
  std::optional<std::uint64_t> before;  // items with lower numbers; if absent, from the newest on
  std::size_t at_most = 50;
};

// A running try, or one of the last that ended.
struct KnownTry {
  std::uint64_t number = 0;
  int batch_size = 0;
  std::string user;                            // only they may report on it; empty if users are not checked
  std::optional<records::TryOutcome> outcome;  // nothing while it runs
};

// Its definition or its history cannot be read: a corrupt_data Error that names the job and its store.
class UnreadableJob : public Error {
 public:
  UnreadableJob(std::string_view store, std::string_view job, std::string_view why);
  // Without the name of the store, for readers elsewhere.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

class Recurrence;
class JobState;
struct OpenRecurrence;

class Job {
 public:
  // Opens the job `name`, or creates it. If the job exists with another definition: a conflict Error that says what
  // differs and what to do. An impossible definition is an invalid_argument Error. `store` and `site` must outlive the
  // job. `origin`: who creates it, and where.
  static Job open(store::JobStore& store, const Site& site, std::string_view name,
                  const records::JobDefinition& definition, const store::JobOrigin& origin = {});
  // Opens an existing job to read it or to go on with it unchanged; nothing if there is none.
  static std::optional<Job> find(store::JobStore& store, const Site& site, std::string_view name);

  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  // Gives the job this definition from the next recurrence on and keeps what is still true of what it learned
  // (jobs/redefinition.hpp); returns the differences. A conflict Error while a recurrence of it is running.
  std::vector<records::DefinitionChange> redefine(const records::JobDefinition& definition,
                                                  const Request& request = {});

  // Leaves a recurrence out for good, by its number from 0: it stays on record and counts for nothing. Leaving it out
  // again changes nothing. A not_found Error if it never began, a conflict while it runs.
  void leave_out(std::uint64_t recurrence, const std::string& reason, const Request& request = {});

  [[nodiscard]] const std::string& name() const;
  // The store's ID: another job of the same name has another one.
  [[nodiscard]] store::JobId id() const;
  // The definition now, as far as the history has been read.
  [[nodiscard]] const records::JobDefinition& definition() const;
  // What policies see, for the current devices.
  [[nodiscard]] const optimize::JobSpec& spec() const;

  // About how much memory it takes, as far as the history has been read.
  [[nodiscard]] std::size_t bytes() const;

  // Reads what was added to the history. A job from find() reads nothing before it is asked something.
  void refresh();
  // Gives up what dead owners left, records a change of device, and begins a recurrence on it.
  Recurrence begin(const records::JobDevice& device);
  // The same for a remote client: the recurrence stays open when this process lets go of it.
  Recurrence begin(const records::JobDevice& device, const Beginning& beginning);
  // Continues a recurrence that runs elsewhere; `request` is the request of the next call. A not_found Error if no
  // recurrence of that number has begun, a conflict if it is over, unless the request has been answered.
  Recurrence resume(std::uint64_t recurrence, const Request& request = {});
  // Gives up what dead owners left and returns the number of recurrences given up. begin() and next() call this
  // themselves.
  std::size_t give_up_the_dead();

  // The open ones in the order of their beginnings, as far as the history has been read.
  [[nodiscard]] std::span<const OpenRecurrence> open_recurrences() const;

  // A try for a training that only reports its epochs (report()): of the oldest such recurrence of the same user and
  // place whose last try has failed, or else of a new one. Measures no limits first.
  records::TryStarted issue(const records::JobDevice& device, const Beginning& beginning);
  // Judges and records a report of such a training after an epoch.
  EpochAnswer report(std::uint64_t try_number, const records::TryProgress& progress, const Request& request = {});
  // Such a training ended without a result. Does nothing if its try is over.
  void lose(std::uint64_t try_number);
  // As far as the history has been read; nothing if no such try has started, or it ended long ago.
  [[nodiscard]] std::optional<KnownTry> find_try(std::uint64_t number) const;
  // The longest epoch reported by any try, as far as the history has been read.
  [[nodiscard]] std::optional<Seconds> longest_epoch() const;

  // Limits measured so far at a batch size on the current devices, ascending.
  [[nodiscard]] std::vector<records::LimitProfile> limits(int batch_size) const;
  // Whether any try of that batch size has reached the target.
  bool has_reached(int batch_size);
  // The time of the last whole run at a batch size on the current devices.
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const;
  // The cost of energy and time as the job weighs them, on its current devices.
  [[nodiscard]] Joules cost(Joules energy, Seconds time) const;

  // For a command that starts before it is known to be a try: the seed of the next try, unless another process starts
  // one first.
  std::uint64_t seed_of_next_try();
  // What a recurrence that began now would do first. Writes nothing except an occasional snapshot.
  optimize::Action preview();
  // Everything there is to show now; walks the whole history. Writes nothing.
  records::JobView view();
  // The same with only the last recurrences and tries: the open ones and the last 64, or at most `most`.
  records::JobView overview(std::size_t most);
  // The job's line in a list. Stores it if the store lacks it and can be written.
  records::JobSummary summary();
  // Stores the summary, as every append does, for a history written by a program that stores none.
  void keep_summary();
  // Newest first.
  std::vector<records::RecurrenceView> recurrences(const Page& page);
  std::vector<records::TryView> tries(const Page& page);

 private:
  friend class Recurrence;
  struct Impl;

  explicit Job(std::unique_ptr<Impl> impl);
  // Puts the beginning of a recurrence on record and returns its number.
  std::uint64_t begun(const records::JobDevice& device, const Beginning& beginning);
  // The answer to that report, and the entries to record.
  [[nodiscard]] std::pair<EpochAnswer, std::vector<records::JobEntryBody>> answer(std::uint64_t number,
                                                                                  const records::TryProgress& told,
                                                                                  const JobState& state) const;

  std::unique_ptr<Impl> impl_;
};

// A recurrence, which is owned by this process, or resumed for its owner elsewhere. Its Job must outlive it. The
// destructor gives up a recurrence of this process that is not over, as far as the store allows; it throws nothing.
class Recurrence {
 public:
  Recurrence(Recurrence&&) noexcept;
  Recurrence& operator=(Recurrence&&) = delete;
  Recurrence(const Recurrence&) = delete;
  Recurrence& operator=(const Recurrence&) = delete;
  ~Recurrence();

  [[nodiscard]] std::uint64_t number() const;  // from 0, over the whole life of the job
  [[nodiscard]] bool over() const;

  // What to do now. A started try is on record when this returns. No try may be running. If the last ProfileAsked was
  // answered only in part, it is not repeated: the next step is a run.
  Step next();
  // The same for a resumed recurrence, which does not know the last answer.
  Step next(const std::optional<records::ProfileAsked>& answered_last);
  // The training whose limits next() had measured has reached the target meanwhile: it becomes the try, whatever next()
  // would have answered. On record when this returns.
  records::TryStarted claim(int batch_size);

  // What happened to the try that next() returned last. With a `try_number`, from 1, another try is refused, as a
  // conflict.
  void profiled(const records::LimitsMeasured& measured);
  void epochs(const records::TryProgress& progress, std::uint64_t try_number = 0);
  void finished(const records::TryResult& result, std::uint64_t try_number = 0);
  // The recurrence ends without a model; a running try is recorded as lost. `reason` is shown to people.
  void give_up(const std::string& reason);

  // Tells other processes that the owner is alive; to be called every few seconds. Writes at most once in ten seconds,
  // but every time if the recurrence was resumed. Any thread may call it beside the others. Owners on the same machine
  // are checked directly and need none. `readings` is the owner's account of its GPUs, in any form.
  void beat(std::string_view readings = {});

 private:
  friend class Job;
  struct Impl;

  Recurrence(Job::Impl& job, std::uint64_t number, bool elsewhere);
  void ask_by(const Request& request);

  std::unique_ptr<Impl> impl_;
};

// Stores that the job cannot be read, so that lists name it without reading its history again.
void keep_unreadable(store::JobStore& store, std::string_view job, const UnreadableJob& error);

// The summaries of all jobs of a store, by name: those the store keeps, and the others computed from their histories. A
// job whose history cannot be read is left out and passed to `unreadable`.
using Unreadable = std::function<void(const std::string& name, const Error& error)>;
std::vector<records::JobSummary> summaries(store::JobStore& store, const Site& site, const Unreadable& unreadable);

}  // namespace zeus::jobs
