#include "job_library/loop.hpp"

#include <algorithm>
#include <utility>

namespace zeus::job_library {

namespace {

constexpr int code_of_interrupt = 130;  // that of a command after Ctrl-C

}  // namespace

void Loop::set_terms(const std::optional<records::JobTarget>& target, int max_epochs) {
  trial_.set_target(target);
  has_target_ = target.has_value();
  max_epochs_ = max_epochs;
}

void Loop::start(int batch_size, std::uint64_t seed) {
  ++trainings_;
  batch_size_ = batch_size;
  seed_ = seed;
  exit_code_.reset();
  interrupted_ = false;
  told_to_end_ = false;
  in_epoch_ = false;
  in_step_ = false;
  still_before_ = process_stood_still_ ? process_stood_still_() : Seconds{};
  stood_still_ = {};
}

void Loop::look_for_standstill() {
  if (process_stood_still_ && !exit_code_) {
    stood_still_ = std::max(stood_still_, process_stood_still_() - still_before_);
  }
}

trial::Source::State Loop::state() {
  look_for_standstill();
  return {.exit_code = exit_code_, .interrupted = interrupted_, .stood_still = stood_still_};
}

// A step lasts until the next one begins, so it includes its data loading.
void Loop::begin_step() {
  if (over()) {
    return;
  }
  in_epoch_ = true;
  trial_.take(trial::StepsDone{.count = std::exchange(in_step_, true) ? 1U : 0U});
}

void Loop::end_steps() {
  if (!over() && std::exchange(in_step_, false)) {
    trial_.take(trial::StepsDone{});
  }
}

void Loop::report(double metric) {
  if (!over()) {
    trial_.take(trial::MetricSeen{.value = metric});
  }
}

void Loop::end_epoch() {
  if (over() || !in_epoch_) {
    return;
  }
  end_steps();
  in_epoch_ = false;
  trial_.take(trial::EpochsDone{});
  // Without a target, the end of the training counts.
  if (!has_target_ && epochs() >= max_epochs_) {
    end(0);
  }
}

void Loop::end(int exit_code) {
  if (exit_code_) {
    return;
  }
  if (exit_code == 0) {
    end_epoch();
    if (exit_code_) {
      return;
    }
  }
  over_with(exit_code);
}

void Loop::interrupt() {
  if (!exit_code_) {
    interrupted_ = true;
    over_with(code_of_interrupt);
  }
}

void Loop::over_with(int exit_code) {
  look_for_standstill();
  exit_code_ = exit_code;
  trial_.end();
}

}  // namespace zeus::job_library
