// A training loop that costs less energy: profiles power limits while it trains, applies the best one, accounts for
// time, energy and cost, and says when to stop. Whatever happens, the GPUs end up with the limits that they had before.
//
//   zeus::TrainingOptions options;
//   options.stopping = {.target = zeus::TrainingTarget{.metric = 0.65}, .max_epochs = 100};
//   zeus::Training training{options};
//   while (training.next_epoch()) {                  // until the target is reached
//     for (auto& batch : training.steps(batches)) {  // or training.begin_step() before each
//       learn(batch);
//     }
//     training.report(evaluate());
//   }
//   for (const zeus::EpochReport& epoch : training.result().epochs) {
//     std::cout << epoch.number << ": " << epoch.time << ", " << epoch.energy.value_or(zeus::Energy{}) << '\n';
//   }
//
// Threads: one at a time, not always the same one. Fork: in a forked child (say a data-loader worker) a Training is
// dead: every call returns without doing anything, and the parent's goes on. Failures: the constructor throws for
// options that make no sense and for requested devices that are not there. Once it trains, it does not throw because of
// devices, leases, files or other ranks. Such a failure is logged once as a warning (and reported as an `Unoptimized`
// event), and the training goes on without optimization. A call out of order is an invalid_argument Error. Inside `zeus
// run`, a Training reports its progress by itself, leaves the GPUs to the run, and takes from it the batch size,
// maximum epochs and target that its options leave open.
#pragma once

#include <zeus/collective.hpp>
#include <zeus/export.hpp>
#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/training_options.hpp>
#include <zeus/training_ranges.hpp>
#include <zeus/training_report.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace zeus {

namespace train {
class Session;
}  // namespace train

class ZEUS_API Training {
 public:
  using Options = TrainingOptions;

  // On the GPUs of this machine.
  explicit Training(const Options& options = {});
  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  // Like finish().
  ~Training();

  // Ends the current epoch, if there is one, decides whether to train another, and begins it. With a collective, all
  // ranks call it, and all get the same answer.
  [[nodiscard]] bool next_epoch();

  // A step: one forward and backward pass on one batch. It ends when the next one begins, with end_steps(), or with the
  // epoch.
  void begin_step();
  // For loops whose progress is only seen from outside or in jumps: `steps` steps have ended since the last call, and
  // others begin. Use it instead of begin_step(), never together with it.
  void progress(std::uint64_t steps = 1);
  // The steps of this epoch are over. What follows (evaluation, a checkpoint) counts for the epoch, but is not a step.
  void end_steps();

  // The metric that the model achieves now. NaN is logged once as a warning and reaches no target.
  void report(double metric);
  // Changes the target from now on, for programs that learn it late.
  void set_target(const TrainingTarget& target);

  // The parts of next_epoch(), for loops that decide themselves when epochs begin and end, such as callbacks of a
  // trainer. Between epochs, stop_reason() says whether to stop, as this rank sees it.
  void begin_epoch();
  void end_epoch();
  [[nodiscard]] std::optional<StopReason> stop_reason() const;

  // Changes the batch size from now on: it is profiled again, unless a saved profile has it.
  void set_batch_size(std::uint64_t batch_size);

  // Sets this now, and keeps it until the end in place of profiling. A lease that was lost is taken again with the next
  // epoch; if a lessor was away, once it is back. Reported as an applied optimum, a SettingRefused, or an Unoptimized.
  // With a collective, all ranks call it at the same place. Another call replaces this one. Throws an invalid_argument
  // Error in the observing modes.
  void hold(const PowerSetting& setting);
  // Asks a lessor whether the setting in force still is, before what was measured under it is used; takes half a second
  // at most. If it is lost, or a lessor that is away cannot say so, that is reported as an Unoptimized.
  void confirm();

  // Ends the current epoch, puts back the limits that were found, and writes the result file. After that, call only
  // result() and the like. A second call does nothing.
  void finish();

  // The result so far; after finish(), of the whole training.
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] bool profiling() const;
  // The measurements so far, or those of a saved profile.
  [[nodiscard]] PowerProfile profile() const;
  // The setting that is applied once profiling is done, or would be in observer mode.
  [[nodiscard]] std::optional<PowerSetting> optimum() const;

  // A view of `batches`: going to the next batch begins the next step, and reaching the end ends the steps of the
  // epoch.
  template <typename Batches>
  [[nodiscard]] auto steps(Batches& batches) {
    return TrainingSteps<Training, Batches>{*this, batches};
  }
  // The numbers of the epochs, from 1, for as long as next_epoch() returns true.
  [[nodiscard]] TrainingEpochs<Training> epochs() { return TrainingEpochs<Training>{*this}; }

 private:
  explicit Training(std::unique_ptr<train::Session> session);
  [[nodiscard]] train::Session& session() const;

  std::unique_ptr<train::Session> session_;  // null in a moved-from training
};

}  // namespace zeus
