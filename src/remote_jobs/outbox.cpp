#include "remote_jobs/outbox.hpp"

#include "base/background_thread.hpp"

#include <algorithm>
#include <utility>

namespace zeus::remote_jobs {

namespace {

constexpr Seconds first_pause{0.2};
constexpr Seconds longest_pause{5};
// While something waits for an answer.
constexpr Seconds pause_of_a_question{0.5};
constexpr Seconds between_looks_at_patience{0.1};

}  // namespace

Outbox::Outbox(Clock& clock, Tell tell)
    : clock_{clock}, tell_{std::move(tell)}, thread_{background_thread([this] { run(); })} {
}

Outbox::~Outbox() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Outbox::put(Change change, Kind kind) {
  {
    const std::lock_guard lock{mutex_};
    if (refusal_) {
      return;
    }
    const std::size_t being_told = telling_ ? 1 : 0;
    if (kind == Kind::replace && letters_.size() > being_told && letters_.back().kind == Kind::replace) {
      letters_.back().change = std::move(change);
    } else {
      letters_.push_back({.change = std::move(change), .kind = kind});
    }
  }
  changed_.notify_all();
}

void Outbox::put_if_idle(Change change) {
  {
    const std::lock_guard lock{mutex_};
    if (refusal_ || !letters_.empty()) {
      return;
    }
    letters_.push_back({.change = std::move(change), .is_beat = true});
  }
  changed_.notify_all();
}

void Outbox::ask(Change change) {
  {
    const std::lock_guard lock{mutex_};
    answer_.reset();
    if (refusal_) {
      return;
    }
    letters_.push_back({.change = std::move(change), .is_question = true});
  }
  changed_.notify_all();
}

std::optional<std::string> Outbox::take_answer() {
  const std::lock_guard lock{mutex_};
  return std::exchange(answer_, std::nullopt);
}

bool Outbox::asks() const {
  return std::ranges::any_of(letters_, &Letter::is_question);
}

std::optional<Error> Outbox::refusal() const {
  const std::lock_guard lock{mutex_};
  return refusal_;
}

bool Outbox::wait_until_told(Patience& left) {
  std::unique_lock lock{mutex_};
  while (!letters_.empty() && !refusal_) {
    if (left.is_over()) {
      return false;
    }
    clock_.wait_until(lock, changed_, clock_.now() + between_looks_at_patience);
  }
  return letters_.empty();
}

void Outbox::run() {
  std::unique_lock lock{mutex_};
  Seconds pause = first_pause;
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || (!letters_.empty() && !refusal_); });
    if (stopping_) {
      return;
    }
    const Letter letter = letters_.front();
    telling_ = true;
    lock.unlock();
    std::optional<Error> failure;
    std::string answer;
    try {
      answer = tell_(letter.change);
    } catch (const Error& error) {
      failure = error;
    }
    lock.lock();
    telling_ = false;
    if (failure && is_passing(*failure) && !letter.is_beat) {
      const Instant failed = clock_.now();
      const auto next = [&] { return failed + (asks() ? std::min(pause, pause_of_a_question) : pause); };
      while (!stopping_ && clock_.now() < next()) {
        clock_.wait_until(lock, changed_, next());
      }
      pause = std::min(2.0 * pause, longest_pause);
      continue;
    }
    pause = first_pause;
    letters_.pop_front();
    if (letter.is_question && !failure) {
      answer_ = std::move(answer);
    }
    if (failure && !letter.is_beat) {
      refusal_ = failure;
      letters_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace zeus::remote_jobs
