// A training loop that costs less energy: profiles power limits while it trains, applies the best one, accounts time,
// energy and cost, and says when to stop. Whatever happens, the GPUs end up with the limits they were found with.
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
// Threads: one at a time; it need not always be the same one. Fork: in a forked child (a data-loader worker, say) a
// Training is dead: every call returns without doing anything, and the parent's goes on. Failures: the constructor
// throws for options that make no sense and for devices asked for that are not there. Once it trains, nothing is
// thrown because of devices, leases, files or other ranks: what goes wrong is said once as a warning (and as an
// `Unoptimized` event) and the training goes on without being optimized. A call out of order is an invalid_argument
// Error. Inside of `zeus run` a Training says by itself how far it has come, leaves the GPUs to the run, and takes from
// it the batch size, maximum of epochs and target that its options leave open.
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
  // As finish().
  ~Training();

  // Ends the epoch under way, if there is one, decides whether to train another, and begins it. With a collective, all
  // ranks call it, and all get the same answer.
  [[nodiscard]] bool next_epoch();

  // A step: one forward and backward pass on one batch. It ends where the next one begins, with end_steps(), or with
  // the epoch.
  void begin_step();
  // Where only progress can be seen, from outside or in jumps: so many steps are over since the last word, and others
  // begin. Instead of begin_step(), never beside it.
  void progress(std::uint64_t steps = 1);
  // The steps of this epoch are over, what follows (evaluation, a checkpoint) is accounted to the epoch, and is no
  // step.
  void end_steps();

  // What the model achieves now. NaN is said once as a warning and reaches no target.
  void report(double metric);
  // Another target from now on, for programs that learn no sooner what it is.
  void set_target(const TrainingTarget& target);

  // For loops with their own idea of when epochs begin and end, such as callbacks of a trainer: next_epoch() in parts.
  // Whether to stop is asked of stop_reason() between them; it is this rank's view.
  void begin_epoch();
  void end_epoch();
  [[nodiscard]] std::optional<StopReason> stop_reason() const;

  // Another batch size from now on: it is profiled anew, unless a saved profile knows it.
  void set_batch_size(std::uint64_t batch_size);

  // Ends the epoch under way, puts back what was found, and writes the result file. Nothing but result() and the like
  // is to be called afterwards. Called twice, it does nothing.
  void finish();

  // So far, or of all of it once finished.
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] bool profiling() const;
  // What has been measured so far; of a saved profile what it says.
  [[nodiscard]] PowerProfile profile() const;
  // What is applied once profiling is done, or would be in observer mode.
  [[nodiscard]] std::optional<PowerSetting> optimum() const;

  // A view of `batches` in which going from one to the next is going from step to step, and reaching the end ends the
  // steps of the epoch.
  template <typename Batches>
  [[nodiscard]] auto steps(Batches& batches) {
    return TrainingSteps<Training, Batches>{*this, batches};
  }
  // The numbers of the epochs, from 1 on, as long as next_epoch() says so.
  [[nodiscard]] TrainingEpochs<Training> epochs() { return TrainingEpochs<Training>{*this}; }

 private:
  explicit Training(std::unique_ptr<train::Session> session);
  [[nodiscard]] train::Session& session() const;

  std::unique_ptr<train::Session> session_;  // null in a moved-from training
};

}  // namespace zeus
