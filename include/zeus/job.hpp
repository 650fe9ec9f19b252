// A training that recurs: each recurrence trains until it reaches its target, at the batch size and under the power
// limit that cost least according to earlier recurrences. It is the same job that `zeus run --job` and `zeus jobs` use,
// in the same store, and decides in the same way.
//
//   zeus::JobDefinition definition{.batch_sizes = {32, 64, 128}, .default_batch_size = 64};
//   definition.target = zeus::TrainingTarget{.metric = 0.9};
//   zeus::Job job{"nightly", definition};
//   while (std::optional<zeus::Try> attempt = job.next_try()) {  // one recurrence: as many tries as it takes
//     Model model{attempt->batch_size(), attempt->seed()};       // a try trains from scratch
//     while (attempt->next_epoch()) {
//       for (auto& batch : attempt->steps(model.batches())) {
//         model.learn(batch);
//       }
//       attempt->report(model.evaluate());
//     }
//   }
//   std::cout << job.summary().next << '\n';
//
// Link zeus::jobs (libzeus-jobs.so, which needs the database libraries) in addition to zeus::zeus.
//
// Threads: only one thread at a time may use a Job and its Tries; it need not always be the same one. Any number of
// processes, including `zeus run`, and of Jobs in one process may work on one job at once. If machines share the store,
// report progress (a step, progress(), an epoch) every minute: after two minutes of silence, other machines take the
// process for dead. Server: with JobOptions::server, a `zeus serve` keeps the job, and a thread of its own reports to
// it, so a loop waits half a second at most while it trains: while the server is away, a decision that is due comes
// later, and limit() and the bounds are empty until then. next_try() waits for it, and for all reports at the end.
// If it is away when a recurrence begins, for longer than a restart, or if it refuses the token, one training follows
// at the default batch size, which is not recorded. Fork: a Job belongs to the process that opened it. In a forked
// child its destructor does nothing, and every call is an Error: open the job there. Failures: the constructor and
// next_try() throw Errors for options that make no sense, for a job that is defined differently, and for a store that
// cannot be used. Once a try trains, nothing is thrown because of the store or of devices: a failure is logged once as
// a warning, and the training goes on (Job::unrecorded()). Calls out of order are invalid_argument Errors. Ends: a Job
// that is destroyed within a recurrence gives the recurrence up, and its try is lost. If its process is killed, the
// next process that works on the job finds that and does the same. Power limits are put back in either case.
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

// What stays the same from one recurrence to the next, and is stored with the job. docs/run.md explains each field.
struct JobDefinition {
  std::vector<int> batch_sizes = {};           // to choose from; none: only power limits are chosen
  std::optional<int> default_batch_size = {};  // your choice without Zeus; may be left out if there is only one
  std::optional<TrainingTarget> target = {};   // none: a training that ends without an exception counts as reached
  std::optional<int> max_epochs = {};          // default: as stored; for a new job, any number
  double eta = 0.5;                            // weight of energy against time in the cost
  double beta = 2.0;                           // a try is stopped at this many times the lowest cost so far
  std::optional<double> max_slowdown = {};     // the most that a power limit may slow down an epoch
  std::size_t window = 0;                      // number of recurrences that policies remember; 0 for all
  std::string policy = {};                     // default: as stored; for a new job, the best
  std::uint64_t seed = 0;
};

// Devices of another machine, or devices that you measure and set yourself.
struct JobDevices {
  std::string model = {};                // product name
  std::uint32_t count = 1;               // number of devices in one training
  Watts max_power = {};                  // all of them together
  std::vector<Watts> power_limits = {};  // the limits that may be set on each; one is enough
};

// What may differ from one recurrence to the next.
struct JobOptions {
  std::filesystem::path store = {};  // a file; empty: the user's own, the same as for `zeus run`
  // The address of the `zeus serve` that keeps the job in place of a store: "http://host:8470", "https://host". If
  // neither is given, $ZEUS_SERVER is. $ZEUS_TOKEN is sent to it unless the address has a token; $ZEUS_CA_FILE names
  // the authorities to trust in place of the system's.
  std::string server = {};
  Seconds server_patience{600};               // how long to wait for it when nothing else is left to do
  std::optional<std::vector<int>> gpus = {};  // the GPUs to train on; all by default
  bool set_limits = true;                     // if false, limits stay as they are
  std::vector<Watts> power_limits = {};       // to choose from; empty: steps of 25 W
  Seconds profile_time{5};                    // for each limit
  std::function<void()> synchronize = {};     // waits until the GPUs have done their work
  // Devices in place of this machine's. Then Zeus measures and sets nothing: you set the limit (Try::limit()), and
  // report time and energy (Try::took(), Try::measured()).
  std::optional<JobDevices> elsewhere = {};
};

// The saving against running the default every time, over recurrences that reached their target and whose default is
// known. Half-widths are those of 95 % intervals.
struct JobSavings {
  std::uint64_t recurrences = 0;  // number counted
  Joules energy = {};             // saved; below 0: lost
  std::optional<Joules> energy_uncertainty = {};
  Joules energy_of_default = {};  // what the default would have taken
  Seconds time = {};
  std::optional<Seconds> time_uncertainty = {};
  Seconds time_of_default = {};
  Joules cost = {};
  std::optional<Joules> cost_uncertainty = {};
  Joules cost_of_default = {};
};

// What `zeus jobs NAME` shows.
struct JobSummary {
  std::uint64_t recurrences = 0;  // begun
  std::uint64_t reached = 0;
  std::uint64_t tries = 0;
  std::optional<Joules> best_cost = {};    // the lowest of a recurrence; nothing until one has reached on these devices
  std::optional<JobSavings> savings = {};  // nothing while the default's cost is unknown
  std::optional<JobSavings> savings_of_last_five = {};
  std::string savings_unknown = {};  // why there are none; empty if there are
  std::string next = {};             // what would be done next, and why: one sentence
};

namespace job_library {
class OpenJob;
}  // namespace job_library

// One training of a recurrence, from its first weights on. It ends when it is destroyed or next_try() is called; if an
// exception is passing through, it counts as a command that crashed. Calls to a Try that is over, or whose Job is gone,
// are invalid_argument Errors.
class ZEUS_API Try {
 public:
  Try(Try&&) noexcept;
  Try& operator=(Try&&) noexcept;
  Try(const Try&) = delete;
  Try& operator=(const Try&) = delete;
  ~Try();

  [[nodiscard]] int batch_size() const;      // 1 if the job has none to choose from
  [[nodiscard]] std::uint64_t seed() const;  // for first weights and the like
  // The bounds on its epochs and its cost, which next_epoch() enforces. While power limits are measured before the try
  // is decided, there are no bounds yet.
  [[nodiscard]] std::optional<int> max_epochs() const;
  [[nodiscard]] std::optional<Joules> cost_limit() const;
  [[nodiscard]] std::optional<TrainingTarget> target() const;
  // The limit that it should run under, or runs under; nothing while limits are measured.
  [[nodiscard]] std::optional<Watts> limit() const;
  [[nodiscard]] std::string why() const;  // why this batch size and limit: one sentence

  // As for a Training (zeus/train.hpp). next_epoch() returns false when the target is reached, or the try is no longer
  // useful.
  [[nodiscard]] bool next_epoch();
  void begin_step();
  void end_steps();
  void report(double metric);
  // Whether the try is over. The loop may still run then: a bound on cost may be met within an epoch.
  [[nodiscard]] bool over() const;
  // Reports that the try has failed, say for lack of memory, and ends it. If other batch sizes have worked and this one
  // has not, the try counts as missing the target, and another one follows. Otherwise nothing is learned, and the
  // recurrence is given up.
  void fail();

  template <typename Batches>
  [[nodiscard]] auto steps(Batches& batches) {
    return TrainingSteps<Try, Batches>{*this, batches};
  }
  [[nodiscard]] TrainingEpochs<Try> epochs() { return TrainingEpochs<Try>{*this}; }

  // Only with JobOptions::elsewhere. Reports time and energy since the last report. Without an energy, the try's energy
  // is unknown, and policies learn nothing from it.
  void took(Seconds time, std::optional<Energy> energy);
  // The limits to measure while it trains; usually empty. One that is known from another training may be among them:
  // the others are recorded in relation to it, since two trainings may differ in more than their limits.
  [[nodiscard]] std::vector<Watts> limits_to_measure() const;
  // Reports what an epoch takes under these limits; limits that are left out are not measured now. Then call
  // limits_to_measure() again: there may be more, limit() may be the chosen one, and the try may be over().
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
  // Opens the job, or creates it. If it exists with another definition, a conflict Error says what differs and what to
  // do.
  Job(std::string_view name, const JobDefinition& definition, const JobOptions& options = {});
  // Opens an existing job, as it is defined; a not_found Error if there is none.
  explicit Job(std::string_view name, const JobOptions& options = {});
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  [[nodiscard]] std::string name() const;
  [[nodiscard]] JobDefinition definition() const;

  // Begins a recurrence, or ends the try of the current one, and decides on the next try. Nothing if the recurrence is
  // over: it has reached its target, or no other try is worth it. The next call begins another recurrence.
  [[nodiscard]] std::optional<Try> next_try();
  // Whether the last recurrence has reached its target.
  [[nodiscard]] bool reached() const;
  // Why the recurrence is not recorded, or no longer: the store has failed, or the server is away. Usually empty.
  [[nodiscard]] std::string unrecorded() const;

  // Reads the whole history.
  [[nodiscard]] JobSummary summary() const;

 private:
  std::shared_ptr<job_library::OpenJob> job_;
};

}  // namespace zeus
