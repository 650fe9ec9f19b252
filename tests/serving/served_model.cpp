#include "served_model.hpp"

#include <algorithm>

namespace zeus::test {

ServedModel::ServedModel(const ServedShape& shape, std::uint64_t seed, const Clock& clock, OnRunning on_running,
                         bool keeps)
    : shape_{shape},
      clock_{&clock},
      on_running_{std::move(on_running)},
      keeps_{keeps},
      lengths_{seed, 1},
      moments_{seed, 2},
      jitter_{seed, 3},
      refusals_{seed, 4} {
  if (shape_.rate) {
    next_due_ = clock.now() + Seconds{moments_.exponential() / *shape_.rate};
  } else {
    for (std::size_t i = 0; i < std::min<std::uint64_t>(shape_.in_flight, shape_.requests); ++i) {
      send(clock.now());
    }
  }
}

// A request of a closed loop that is refused leaves its place to the next one.
void ServedModel::send(Instant due) {
  while (send_one(due) && !shape_.rate && sent_ < shape_.requests) {
  }
}

bool ServedModel::send_one(Instant due) {
  const std::uint64_t pieces = shape_.fewest_pieces + lengths_.below(shape_.most_pieces - shape_.fewest_pieces + 1);
  const bool is_refused = shape_.refused > 0 && refusals_.uniform() < shape_.refused;
  ++sent_;
  ended_ += is_refused ? 1 : 0;
  if (!is_refused) {
    waiting_.push_back({.number = answers_.size(), .left = pieces});
  }
  if (keeps_) {
    serving::Answer answer;
    answer.due = due;
    answer.sent = due;
    if (is_refused) {
      answer.ended = due;
      answer.failure = "status 429";
    } else {
      answer.usage = serving::Usage{.prompt_tokens = 10, .output_tokens = pieces * shape_.tokens_of_piece};
    }
    answers_.push_back(answer);
  }
  return is_refused;
}

void ServedModel::end_step(Instant now) {
  step_ends_.reset();
  tokens_ += running_.size() * shape_.tokens_of_piece;
  std::uint64_t done = 0;
  for (Running& one : running_) {
    --one.left;
    if (keeps_) {
      answers_[one.number].arrivals.push_back(now);
      answers_[one.number].ended = now;
      answers_[one.number].finish_reason = "length";
    }
    done += one.left == 0 ? 1 : 0;
  }
  std::erase_if(running_, [](const Running& one) { return one.left == 0; });
  ended_ += done;
  for (; !shape_.rate && done > 0 && sent_ < shape_.requests; --done) {
    send(now);
  }
}

void ServedModel::begin_step(Instant now) {
  Seconds time;
  while (!waiting_.empty() && running_.size() < shape_.most_running) {
    running_.push_back(waiting_.front());
    waiting_.pop_front();
    time += shape_.prompt;
  }
  if (shown_running_ != running_.size()) {
    shown_running_ = running_.size();
    on_running_(shown_running_);
  }
  if (!running_.empty()) {
    time += shape_.step + shape_.step_each * static_cast<double>(running_.size());
    step_ends_ = now + time * (jitter_.uniform(0.9, 1.1) / speed_);
  }
}

std::optional<Instant> ServedModel::work() {
  const Instant now = clock_->now();
  while (next_due_ && *next_due_ <= now && sent_ < shape_.requests) {
    send(*next_due_);
    next_due_ = *next_due_ + Seconds{moments_.exponential() / *shape_.rate};
  }
  if (sent_ == shape_.requests) {
    next_due_.reset();
  }
  if (step_ends_ && *step_ends_ <= now) {
    end_step(now);
  }
  if (!step_ends_) {
    begin_step(now);
  }
  if (step_ends_ && next_due_) {
    return std::min(*step_ends_, *next_due_);
  }
  return step_ends_ ? step_ends_ : next_due_;
}

}  // namespace zeus::test
