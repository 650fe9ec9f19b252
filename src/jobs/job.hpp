// A recurring job that is run here: reads its history, decides, allots numbers, records. `zeus run` and the server
// drive it alike, the simulator drives the same optimize::RecurringJob. One thread at a time, except where said; any
// number of processes may run the same job at once, and each decision sees exactly the entries before its own.
//
//   jobs::Job job = jobs::Job::open(store, site, "bert", definition);
//   jobs::Recurrence recurrence = job.begin(device);
//   while (true) {
//     const jobs::Step step = recurrence.next();       // durable when it returns
//     if RunStep:      start the command; profiled() when it measured limits; epochs() now and then; finished()
//                      - reached: the recurrence is over; otherwise ask next() again
//     if ProfileStep:  start the command at that batch size, measure these limits while it trains, profiled(), and ask
//                      next() again: when it says to run the same batch size, let the same process go on (and charge
//                      profiled() nothing: the training was not in vain); otherwise stop it and charge what it took
//     if GiveUpStep:   the job has failed too often, or would only do again what failed; the recurrence is over
//   }
//
// A server does the same for those who carry recurrences out elsewhere, request by request: begin() with who that is,
// then resume(number) and one call each. A request has a key, kept with the entry that it made, so that asking again
// changes nothing more and is answered the same, by every server. A training that only tells of its epochs and is told
// when to stop is given its tries by issue() and judged by report().
//
// Every call that records is durable when it returns. What may be thrown, always a zeus::Error:
// - conflict: this recurrence was given up by somebody else (it showed no sign of life), or it is over already. What
//   was to be recorded is not. Nothing is wrong with the store.
// - invalid_argument: what is told cannot be: no try is running, epochs go back, energies fall, the key of the request
//   is that of another one.
// - not_found: no such recurrence has begun, no such try was started.
// - what the store throws (job_store.hpp): unavailable for a full disk, permission_denied, timeout, corrupt_data. The
//   training may go on unrecorded: after such a failure every further call may be tried again.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "store/job_store.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

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

// Where and who we are: outlives whatever is opened with it.
struct Site {
  Clock& clock;
  FileTree machine;         // whose /proc tells which owners live
  records::JobOwner owner;  // of the recurrences begun here
};

// This process on this machine.
Site this_site(Clock& clock, const FileTree& machine);

// Run one try. It is number `number` of the job and on record as submitted.
struct RunStep {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;  // for the script
  int batch_size = 0;      // 1 for a job that has no batch sizes
  // Under which to run. Nothing: measure all limits during the first epoch (and record them), then use the cheapest.
  std::optional<Watts> limit;
  int max_epochs = 0;            // stop it, as failed, when it is short of the target after so many
  std::optional<Joules> budget;  // of cost; stop it when another epoch would take its cost above that
  records::TryPurpose purpose = records::TryPurpose::exploit;
  std::string why;  // one sentence without a full stop
};

// Measure these limits at this batch size, record them with profiled(), then ask again.
struct ProfileStep {
  int batch_size = 0;
  std::vector<Watts> limits;
  std::string why;
};

// The recurrence failed as often as one may; it is on record as given up.
struct GiveUpStep {
  int tries = 0;
  bool never_reached = false;  // nor has any other of the job: once at each batch size is as often as one may then
};

using Step = std::variant<RunStep, ProfileStep, GiveUpStep>;

// What profiling came to. `charged` and `time` are what it took beside any training; nothing when the training goes on.
struct Profiled {
  int batch_size = 0;
  std::vector<records::LimitProfile> limits;
  std::vector<records::GpuEnergy> charged;
  Seconds time;
};

// How a try stands. Neither epochs nor time nor energy may be less than before.
struct Progress {
  int epochs = 0;
  std::optional<double> metric;
  std::vector<records::GpuEnergy> gpus;
  Seconds time;
  // Of whoever says which try it means: a conflict Error where that is not the one that runs.
  std::optional<std::uint64_t> try_number = {};
};

// How a try ended. Energies that are not known leave the try out of beliefs (left_out must then say so).
struct Finished {
  records::TryOutcome outcome = records::TryOutcome::lost;
  int epochs = 0;
  std::vector<records::GpuEnergy> gpus;
  Seconds time;
  std::optional<Watts> limit;
  std::optional<double> metric;
  std::optional<int> exit_code;
  std::optional<std::string> left_out;
  std::optional<records::WholeEpochs> whole_epochs;
  std::optional<std::uint64_t> try_number = {};  // as that of Progress
};

// A request of somebody elsewhere: whose it is and its name, unique within the job, and what is asked for. An empty key
// is none.
using Request = records::EntryRequest;

// Who carries out a recurrence that is begun for somebody else.
struct Beginning {
  records::JobOwner owner;
  std::string user;              // who alone may report on it; empty where nobody asks
  std::optional<Seconds> lease;  // how long its silence still means life; that of everybody unless said
  Request request;
};

// A try given to a training that tells of its epochs (issue()).
struct IssuedTry {
  std::uint64_t recurrence = 0;
  RunStep step;
};

// An epoch of such a training is over: all of it so far, and the metric after it.
struct EpochReport {
  std::uint64_t try_number = 0;
  int epochs = 0;
  double metric = 0.0;
  std::vector<records::GpuEnergy> gpus;
  Seconds time;
};

// Whether it goes on, and what has become of it otherwise.
struct EpochAnswer {
  std::optional<records::TryOutcome> outcome;  // nothing: it goes on
  bool decided_before = false;                 // by another report, or since it was given up
};

// A part of a list whose members are numbered from 1.
struct Page {
  std::optional<std::uint64_t> before;  // those with lower numbers; from the newest on unless said
  std::size_t at_most = 50;
};

// A try that runs, or is one of the last that ended.
struct KnownTry {
  std::uint64_t number = 0;
  int batch_size = 0;
  std::string user;                            // who alone may report on it; empty where nobody asks
  std::optional<records::TryOutcome> outcome;  // nothing while it runs
};

class Recurrence;
class JobState;
struct OpenRecurrence;

class Job {
 public:
  // Opens the job `name`, or makes it when there is none. A job that exists with another definition is a conflict Error
  // that says what differs and what to do; a definition that cannot be is an invalid_argument Error. `store` and `site`
  // must outlive the job. `origin`: who has it made, where it is.
  static Job open(store::JobStore& store, const Site& site, std::string_view name,
                  const records::JobDefinition& definition, const store::JobOrigin& origin = {});
  // Opens a job that exists, for whoever looks at it or goes on with it as it is; nothing when there is none.
  static std::optional<Job> find(store::JobStore& store, const Site& site, std::string_view name);

  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  // Takes the job on as it is defined here, from the next recurrence on, and keeps of what was learned what stays true
  // (jobs/redefinition.hpp); returns what differs from before. A conflict Error while a recurrence of it is running.
  std::vector<records::DefinitionChange> redefine(const records::JobDefinition& definition,
                                                  const Request& request = {});

  [[nodiscard]] const std::string& name() const;
  // That of its store: another job of the same name has another one.
  [[nodiscard]] store::JobId id() const;
  // As it is defined now, as far as its history has been read.
  [[nodiscard]] const records::JobDefinition& definition() const;
  // The spec that policies see, for the current devices.
  [[nodiscard]] const optimize::JobSpec& spec() const;

  // Reads what has been added to its history. Of a job that was found, nothing is read before something is asked.
  void refresh();
  // Gives up what dead owners left, notes another device when it is another one, and begins a recurrence on it.
  Recurrence begin(const records::JobDevice& device);
  // The same for somebody else, who carries it out: that it is left here means nothing.
  Recurrence begin(const records::JobDevice& device, const Beginning& beginning);
  // Goes on with a recurrence that is carried out elsewhere; `request` is what its next call is asked by. A not_found
  // Error where none of that number has begun, a conflict where it is over, unless the request has been answered.
  Recurrence resume(std::uint64_t recurrence, const Request& request = {});
  // Gives up what dead owners left, and returns how many recurrences that were. begin() and next() do this by
  // themselves.
  std::size_t give_up_the_dead();

  // Those under way, in the order in which they began; as far as the history has been read.
  [[nodiscard]] std::span<const OpenRecurrence> open_recurrences() const;

  // A try for a training that only tells of its epochs (report()): of the oldest recurrence that was begun so by the
  // same user and place and whose last try has failed, or of one that begins now. Limits that would be measured first
  // are not.
  IssuedTry issue(const records::JobDevice& device, const Beginning& beginning);
  // Judges and records what such a training tells.
  EpochAnswer report(const EpochReport& report, const Request& request = {});
  // Such a training has ended without a result; nothing where its try is over.
  void lose(std::uint64_t try_number);
  // As far as the history has been read; nothing where no such try has started, or it is long over.
  [[nodiscard]] std::optional<KnownTry> find_try(std::uint64_t number) const;
  // The longest epoch that any try has told of, as far as the history has been read.
  [[nodiscard]] std::optional<Seconds> longest_epoch() const;

  // Limits measured so far at a batch size on the current devices, ascending.
  [[nodiscard]] std::vector<records::LimitProfile> limits(int batch_size) const;
  // Whether any try of that batch size has.
  bool has_reached(int batch_size);
  // How long the last whole run at a batch size on the current devices took.
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const;
  // The cost of energy and time as the job weighs them, on its current devices.
  [[nodiscard]] Joules cost(Joules energy, Seconds time) const;

  // For a command that is started before it is known to be a try: the seed that the next one will have, unless others
  // start one first.
  std::uint64_t seed_of_next_try();
  // What a recurrence that began now would be told to do. Writes nothing but, now and then, a snapshot.
  optimize::Action preview();
  // Everything there is to show, as of now: walks the whole history. Writes nothing.
  records::JobView view();
  // The same with the last recurrences and tries only: those under way and the last 64, or `most` at most.
  records::JobView overview(std::size_t most);
  // What is told of it in a list; has it kept where the store lacks it, as far as that can be written.
  records::JobSummary summary();
  // Keeps it, as every append does, for a history that was written by what keeps none.
  void keep_summary();
  // The newest first.
  std::vector<records::RecurrenceView> recurrences(const Page& page);
  std::vector<records::TryView> tries(const Page& page);

 private:
  friend class Recurrence;
  struct Impl;

  explicit Job(std::unique_ptr<Impl> impl);
  // Puts the beginning of a recurrence on record, and returns its number.
  std::uint64_t begun(const records::JobDevice& device, const Beginning& beginning);
  // The answer to that report, and what it puts on record.
  [[nodiscard]] std::pair<EpochAnswer, std::vector<records::JobEntryBody>> answer(const EpochReport& told,
                                                                                  const JobState& state) const;

  std::unique_ptr<Impl> impl_;
};

// One need for a trained model, owned by this process, or resumed for its owner elsewhere. Its Job must outlive it.
// Destroying one of this process that is not over gives it up as far as the store allows: nothing is thrown.
class Recurrence {
 public:
  Recurrence(Recurrence&&) noexcept;
  Recurrence& operator=(Recurrence&&) = delete;
  Recurrence(const Recurrence&) = delete;
  Recurrence& operator=(const Recurrence&) = delete;
  ~Recurrence();

  [[nodiscard]] std::uint64_t number() const;  // from 0, over the whole life of the job
  [[nodiscard]] bool over() const;

  // What to do now. A RunStep is on record when this returns. There must be no try running. Where a ProfileStep was
  // answered last, and not with all that it asked for, it is not asked again: something is run.
  Step next();
  // The same for one that was resumed, which does not know what was answered last.
  Step next(const std::optional<ProfileStep>& answered_last);
  // The training whose limits next() had measured has reached the target meanwhile: it is the try, whatever would have
  // come next. On record when this returns.
  RunStep claim(int batch_size);

  // What happened to the try that next() handed out last.
  void profiled(const Profiled& profiled);
  void epochs(const Progress& progress);
  void finished(const Finished& finished);
  // The recurrence ends without a model; a try still running is recorded as lost. `reason` is shown to people.
  void give_up(const std::string& reason);

  // A sign of life, to be given every few seconds; writes at most once in ten, or each where the recurrence was
  // resumed. It may be called from another thread than the rest. Owners on the same machine are looked at directly and
  // need none. `readings` is what the owner says of its GPUs, in whatever form.
  void beat(std::string_view readings = {});

 private:
  friend class Job;
  struct Impl;

  Recurrence(Job::Impl& job, std::uint64_t number, bool elsewhere);
  void ask_by(const Request& request);

  std::unique_ptr<Impl> impl_;
};

// Of all jobs of a store, in the order of its names: those that it keeps, and the others from their histories. A job
// whose history cannot be read is left out, and `unreadable` told why.
using Unreadable = std::function<void(const std::string& name, const Error& error)>;
std::vector<records::JobSummary> summaries(store::JobStore& store, const Site& site, const Unreadable& unreadable);

}  // namespace zeus::jobs
