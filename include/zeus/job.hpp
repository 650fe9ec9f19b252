// A training that recurs: each recurrence trains until it reaches its target, at the batch size and under the power
// limit that cost least by what earlier ones have taught. The job is the one that `zeus run --job` and `zeus jobs`
// know, in the same store, and decides as they do.
//
//   zeus::JobDefinition definition{.batch_sizes = {32, 64, 128}, .default_batch_size = 64};
//   definition.target = zeus::TrainingTarget{.metric = 0.9};
//   zeus::Job job{"nightly", definition};
//   while (std::optional<zeus::Try> attempt = job.next_try()) {  // one recurrence: as many tries as it takes
//     Model model{attempt->batch_size(), attempt->seed()};       // a try trains anew
//     while (attempt->next_epoch()) {
//       for (auto& batch : attempt->steps(model.batches())) {
//         model.learn(batch);
//       }
//       attempt->report(model.evaluate());
//     }
//   }
//   std::cout << job.summary().next << '\n';
//
// Link zeus::jobs (libzeus-jobs.so, which brings the database) beside zeus::zeus.
//
// Threads: a Job and its Tries are used by one at a time; it need not always be the same one. Any number of processes,
// `zeus run` among them, and of Jobs in one process may work on one job at once. On a store that other machines work on
// as well, a word (a step, progress(), an epoch) is due every minute: who is silent for two is taken for dead there.
// Fork: a Job belongs to the process that opened it. In a forked child its destructor does nothing, and every call is
// an Error: open the job there. Failures: what makes no sense, a job that is defined differently, and a store that
// cannot be used are Errors of the constructor and of next_try(). Once a try trains, nothing is thrown because of the
// store or of devices: what goes wrong is said once as a warning, and the training goes on (Job::unrecorded()). Calls
// out of order are invalid_argument Errors. Ends: a Job that is destroyed within a recurrence gives it up, its try
// lost. If its process is killed, whoever works on the job next finds that and does so. Power limits are put back in
// either case.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/export.hpp>
#include <zeus/power.hpp>
#include <zeus/training_options.hpp>
#include <zeus/training_ranges.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

// What stays the same from one recurrence to the next, and is kept with the job. docs/run.md says what each does.
struct JobDefinition {
  std::vector<int> batch_sizes = {};           // to choose from; none: only power limits are
  std::optional<int> default_batch_size = {};  // that you would use without Zeus; may be left out where there is one
  std::optional<TrainingTarget> target = {};   // none: a training that ends without an exception has reached it
  std::optional<int> max_epochs = {};          // left out: as the job has it; of a new one, any number
  double eta = 0.5;                            // weight of energy against time in the cost
  double beta = 2.0;                           // a try is stopped at so many times the least cost so far
  std::optional<double> max_slowdown = {};     // of an epoch, by a power limit
  std::size_t window = 0;                      // recurrences that are remembered; 0 for all
  std::string policy = {};                     // left out: as the job has it; of a new one, the best
  std::uint64_t seed = 0;
};

// Devices that are not this machine's, or that somebody else measures and sets.
struct JobDevices {
  std::string model = {};                // product name
  std::uint32_t count = 1;               // of them, in one training
  Watts max_power = {};                  // all of them together
  std::vector<Watts> power_limits = {};  // that may be set on each; one is enough
};

// What may differ from one recurrence to the next.
struct JobOptions {
  std::filesystem::path store = {};           // a file; empty: the user's own, as of `zeus run`
  std::optional<std::vector<int>> gpus = {};  // that are trained on; all without
  bool set_limits = true;                     // otherwise those in force stay
  std::vector<Watts> power_limits = {};       // to choose from; empty: steps of 25 W
  Seconds profile_time{5};                    // for each limit
  std::function<void()> synchronize = {};     // waits until the GPUs have done what was given to them
  // These in place of the machine's: nothing is measured or set then, the limit is yours to set (Try::limit()), and
  // what things take is yours to say (Try::took(), Try::measured()).
  std::optional<JobDevices> elsewhere = {};
};

// Against running the default every time: recurrences that reached, where their default is known. Half-widths are those
// of 95 % intervals.
struct JobSavings {
  std::uint64_t recurrences = 0;  // counted
  Joules energy = {};             // saved; below 0: lost
  std::optional<Joules> energy_uncertainty = {};
  Joules energy_of_default = {};  // what they would have taken
  Seconds time = {};
  std::optional<Seconds> time_uncertainty = {};
  Seconds time_of_default = {};
  Joules cost = {};
  std::optional<Joules> cost_uncertainty = {};
  Joules cost_of_default = {};
};

// What `zeus jobs NAME` says.
struct JobSummary {
  std::uint64_t recurrences = 0;  // begun
  std::uint64_t reached = 0;
  std::uint64_t tries = 0;
  std::optional<Joules> best_cost = {};    // the least of a recurrence; nothing while none has reached on these devices
  std::optional<JobSavings> savings = {};  // nothing while the default's cost is not known
  std::optional<JobSavings> savings_of_last_five = {};
  std::string savings_unknown = {};  // why there are none; empty where there are
  std::string next = {};             // what would be done now, and why: one sentence
};

namespace job_library {
class OpenJob;
}  // namespace job_library

// One training of a recurrence, from its first weights on. It ends by itself when it is destroyed or next_try() is
// called: by an exception, if one is passing through, as a command that crashed. Calls to one that is over, or whose
// Job is gone, are invalid_argument Errors.
class ZEUS_API Try {
 public:
  Try(Try&&) noexcept;
  Try& operator=(Try&&) noexcept;
  Try(const Try&) = delete;
  Try& operator=(const Try&) = delete;
  ~Try();

  [[nodiscard]] int batch_size() const;      // 1 where the job has none to choose from
  [[nodiscard]] std::uint64_t seed() const;  // for first weights and the like
  // The most that it may run, and its bound on cost: known to whoever looks, and held by next_epoch(). What is being
  // measured before it is decided upon has no bound yet.
  [[nodiscard]] std::optional<int> max_epochs() const;
  [[nodiscard]] std::optional<Joules> cost_limit() const;
  [[nodiscard]] std::optional<TrainingTarget> target() const;
  // Under which it is to run, or runs; nothing while limits are measured.
  [[nodiscard]] std::optional<Watts> limit() const;
  [[nodiscard]] std::string why() const;  // this batch size and limit: one sentence

  // As those of a Training (zeus/train.hpp). next_epoch() is false when the target is reached, or the try is of no more
  // use.
  [[nodiscard]] bool next_epoch();
  void begin_step();
  void end_steps();
  void report(double metric);
  // Whether it is over, though the loop may not be: a bound on cost may be met within an epoch.
  [[nodiscard]] bool over() const;
  // It has failed, as by lack of memory, and ends. Where other batch sizes have worked and this one has not, it has
  // missed the target and another one is tried; otherwise nothing is learned, and the recurrence is given up.
  void fail();

  template <typename Batches>
  [[nodiscard]] auto steps(Batches& batches) {
    return TrainingSteps<Try, Batches>{*this, batches};
  }
  [[nodiscard]] TrainingEpochs<Try> epochs() { return TrainingEpochs<Try>{*this}; }

  // With JobOptions::elsewhere alone. What it has taken since the last such word; nothing: its energy is not known, and
  // it teaches nothing.
  void took(Seconds time, std::optional<Energy> energy);
  // The limits that are to be measured while it trains; empty mostly.
  [[nodiscard]] std::vector<Watts> limits_to_measure() const;
  // What an epoch takes under them, or under some of them: then the others are not measured now. Ask again after that:
  // there may be others, limit() may say which is kept, and the try may be over().
  void measured(const std::vector<LimitProfile>& limits);

 private:
  friend class Job;
  Try(std::shared_ptr<job_library::OpenJob> job, std::uint64_t training);

  void end() noexcept;

  std::shared_ptr<job_library::OpenJob> job_;
  std::uint64_t training_ = 0;
  int exceptions_ = 0;
};

class ZEUS_API Job {
 public:
  // Opens the job, or makes it. One that exists and is defined differently is a conflict Error that says what differs
  // and what to do.
  Job(std::string_view name, const JobDefinition& definition, const JobOptions& options = {});
  // Opens one that exists, as it is defined; a not_found Error where it does not.
  explicit Job(std::string_view name, const JobOptions& options = {});
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  [[nodiscard]] std::string name() const;
  [[nodiscard]] JobDefinition definition() const;

  // Begins a recurrence, or ends the try of the one under way, and decides on the next try. Nothing when the recurrence
  // is over: it has reached its target, or no other try is worth it. The call after that begins another recurrence.
  [[nodiscard]] std::optional<Try> next_try();
  // Whether the last recurrence has reached its target.
  [[nodiscard]] bool reached() const;
  // Why the recurrence is not on record from some point on: the store has failed. Empty mostly.
  [[nodiscard]] std::string unrecorded() const;

  // Reads the whole history.
  [[nodiscard]] JobSummary summary() const;

 private:
  std::shared_ptr<job_library::OpenJob> job_;
};

}  // namespace zeus
