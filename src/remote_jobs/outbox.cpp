#include "remote_jobs/outbox.hpp"

#include "base/background_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

namespace zeus::remote_jobs {

namespace {

constexpr Seconds first_pause{0.2};
constexpr Seconds longest_pause{5};
// While something waits for an answer.
constexpr Seconds pause_of_a_question{0.5};
constexpr Seconds between_looks_at_patience{0.1};

}  // namespace

struct Outbox::Desk {
  struct Letter {
    Change change;
    Kind kind = Kind::keep;
    bool is_beat = false;
    bool is_question = false;
  };

  Desk(Clock& its_clock, Tell its_tell) : clock{its_clock}, tell{std::move(its_tell)} {}

  void run();
  [[nodiscard]] bool asks() const { return std::ranges::any_of(letters, &Letter::is_question); }

  Clock& clock;  // not used by the thread once it is stopping
  Tell tell;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Letter> letters;  // the first one is being sent
  bool telling = false;
  bool stopping = false;
  std::optional<std::string> answer;
  std::optional<Error> refusal;
};

Outbox::Outbox(Clock& clock, Tell tell)
    : desk_{std::make_shared<Desk>(clock, std::move(tell))},
      thread_{background_thread([desk = desk_] { desk->run(); })} {
}

Outbox::~Outbox() {
  bool telling = false;
  {
    const std::lock_guard lock{desk_->mutex};
    desk_->stopping = true;
    telling = desk_->telling;
  }
  desk_->changed.notify_all();
  if (telling) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Outbox::put(Change change, Kind kind) {
  {
    const std::lock_guard lock{desk_->mutex};
    if (desk_->refusal) {
      return;
    }
    auto& letters = desk_->letters;
    const std::size_t being_told = desk_->telling ? 1 : 0;
    if (kind == Kind::replace && letters.size() > being_told && letters.back().kind == Kind::replace) {
      letters.back().change = std::move(change);
    } else {
      letters.push_back({.change = std::move(change), .kind = kind});
    }
  }
  desk_->changed.notify_all();
}

void Outbox::put_if_idle(Change change) {
  {
    const std::lock_guard lock{desk_->mutex};
    if (desk_->refusal || !desk_->letters.empty()) {
      return;
    }
    desk_->letters.push_back({.change = std::move(change), .is_beat = true});
  }
  desk_->changed.notify_all();
}

void Outbox::ask(Change change) {
  {
    const std::lock_guard lock{desk_->mutex};
    desk_->answer.reset();
    if (desk_->refusal) {
      return;
    }
    desk_->letters.push_back({.change = std::move(change), .is_question = true});
  }
  desk_->changed.notify_all();
}

std::optional<std::string> Outbox::take_answer() {
  const std::lock_guard lock{desk_->mutex};
  return std::exchange(desk_->answer, std::nullopt);
}

std::optional<Error> Outbox::refusal() const {
  const std::lock_guard lock{desk_->mutex};
  return desk_->refusal;
}

bool Outbox::wait_until_told(Patience& left) {
  std::unique_lock lock{desk_->mutex};
  while (!desk_->letters.empty() && !desk_->refusal) {
    if (left.is_over()) {
      return false;
    }
    desk_->clock.wait_until(lock, desk_->changed, desk_->clock.now() + between_looks_at_patience);
  }
  return desk_->letters.empty();
}

void Outbox::Desk::run() {
  std::unique_lock lock{mutex};
  Seconds pause = first_pause;
  while (true) {
    changed.wait(lock, [this] { return stopping || (!letters.empty() && !refusal); });
    if (stopping) {
      return;
    }
    const Letter letter = letters.front();
    telling = true;
    lock.unlock();
    std::optional<Error> failure;
    std::string text;
    try {
      text = tell(letter.change);
    } catch (const Error& error) {
      failure = error;
    }
    lock.lock();
    telling = false;
    if (stopping) {
      return;
    }
    if (failure && is_passing(*failure) && !letter.is_beat) {
      const Instant failed = clock.now();
      const auto next = [&] { return failed + (asks() ? std::min(pause, pause_of_a_question) : pause); };
      while (!stopping && clock.now() < next()) {
        clock.wait_until(lock, changed, next());
      }
      pause = std::min(2.0 * pause, longest_pause);
      continue;
    }
    pause = first_pause;
    letters.pop_front();
    if (letter.is_question && !failure) {
      answer = std::move(text);
    }
    if (failure && !letter.is_beat) {
      refusal = failure;
      letters.clear();
    }
    changed.notify_all();
  }
}

}  // namespace zeus::remote_jobs
