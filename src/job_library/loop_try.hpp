// A training that is the user's own loop, as a Try for jobs::Driver. It keeps the loop's reports until the driver asks
// for them. The loop learns what the driver wants when it asks whether to continue. This class counts epochs and steps;
// the instruments measure them and set the limits. One thread; the arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "job_library/instruments.hpp"
#include "jobs/try.hpp"
#include "records/job_definition.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::job_library {

class LoopTry final : public jobs::Try {
 public:
  LoopTry(Instruments& instruments, Clock& clock) : instruments_{instruments}, clock_{clock} {}

  // The target, at which the account is closed; and the number of epochs after which a training without a target ends.
  void set_terms(const std::optional<records::JobTarget>& target, int max_epochs);

  void start(int batch_size, std::uint64_t seed) override;
  void hold(Watts limit) override { instruments_.hold(limit); }
  void leave() override { instruments_.leave(); }
  void measure(const std::vector<Watts>& limits, const Known& known) override;
  std::vector<Event> go_on() override;
  void stop() override { told_to_end_ = true; }
  [[nodiscard]] State state() override;
  [[nodiscard]] std::vector<records::LimitProfile> measured() override { return instruments_.measured(shape_); }
  [[nodiscard]] Taken taken_so_far() override { return instruments_.look(); }
  Taken close() override { return instruments_.close(); }

  // Called by the loop. No call has an effect once the training is over.
  void begin_step();
  void end_steps();
  void report(double metric);
  void end_epoch();
  void begin_epoch() { in_epoch_ = !over(); }
  void end(int exit_code);

  // True if there is something that the driver should know at once.
  [[nodiscard]] bool has_news() const { return !events_.empty(); }
  // True once it was told to end, or has ended.
  [[nodiscard]] bool over() const { return told_to_end_ || exit_code_; }
  [[nodiscard]] bool has_reached() const { return reached_; }  // according to the reported metric
  [[nodiscard]] bool has_ended() const { return exit_code_.has_value(); }
  [[nodiscard]] std::uint64_t trainings() const { return trainings_; }  // started so far
  [[nodiscard]] int epochs() const { return epochs_; }                  // over so far
  [[nodiscard]] int batch_size() const { return batch_size_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  void step_is_over();

  Instruments& instruments_;
  Clock& clock_;
  std::optional<records::JobTarget> target_;
  int max_epochs_ = 0;
  std::uint64_t trainings_ = 0;

  // State of the training.
  int batch_size_ = 0;
  std::uint64_t seed_ = 0;
  int epochs_ = 0;
  std::optional<double> metric_;
  std::optional<int> exit_code_;
  bool told_to_end_ = false;
  bool reached_ = false;
  std::vector<Event> events_;
  // State of its epochs.
  bool in_epoch_ = false;
  bool in_step_ = false;
  int step_reports_ = 0;  // reports of steps so far
  std::uint64_t steps_ = 0;
  Instant first_step_;
  Instant last_step_;
  std::optional<trial::EpochShape> shape_;  // of the first epoch in which steps were seen
  double last_beside_steps_ = 0.0;
};

}  // namespace zeus::job_library
