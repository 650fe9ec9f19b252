#include "pacing/clock_follower.hpp"

#include "base/background_thread.hpp"
#include "base/log.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace zeus::pacing {

namespace {

// How far ahead to ask before any change was seen, and the bounds of later estimates.
constexpr Seconds first_lead{0.050};
constexpr Seconds least_lead{0.002};
constexpr Seconds longest_lead{0.250};
// On most GPUs the visible clock moves in steps of 15 MHz.
constexpr double close_enough_mhz = 15.5;
constexpr Seconds look_every{0.001};

}  // namespace

// All state of the thread. `mutex` guards everything but `driven`, which is the thread's own while it runs.
struct ClockFollower::State {
  // How long recent changes of the clock took.
  class Latencies {
   public:
    void add(Seconds latency) {
      last_[count_ % last_.size()] = latency;
      ++count_;
    }

    [[nodiscard]] std::optional<Seconds> longest() const {
      if (count_ == 0) {
        return std::nullopt;
      }
      return *std::max_element(last_.begin(),
                               last_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, last_.size())));
    }

    // A quarter more than the longest, as the next change may take longer still.
    [[nodiscard]] Seconds lead() const {
      const std::optional<Seconds> seen = longest();
      return seen ? std::clamp(1.25 * *seen, least_lead, longest_lead) : first_lead;
    }

   private:
    std::array<Seconds, 16> last_{};
    std::size_t count_ = 0;
  };

  // A requested change that has not been seen yet.
  struct Change {
    Megahertz clock;
    Instant asked;
  };

  State(std::vector<PipelineInstruction> instructions, Clock& runs_on, const PipelineClocksOptions& options)
      : timing{std::move(instructions)}, clock{runs_on}, fixed_lead{options.lead}, logs{options.log_trouble} {}

  void begin(const std::function<std::unique_ptr<DrivenClock>()>& drive);
  void follow();
  void ask(std::unique_lock<std::mutex>& lock, Megahertz wanted);
  void look(std::unique_lock<std::mutex>& lock);
  void renew(std::unique_lock<std::mutex>& lock);
  void report(const std::string& what);
  void put_back();

  std::mutex mutex;
  std::condition_variable happened;
  PipelineTiming timing;
  std::unique_ptr<DrivenClock> driven;
  Clock& clock;
  std::optional<Seconds> fixed_lead;
  bool logs;
  Latencies latencies;
  Megahertz asked{0};
  std::optional<Change> change;
  std::string trouble;
  bool progress = false;  // since the last renewal of the lease
  bool closing = false;
  std::thread thread;
};

void ClockFollower::State::begin(const std::function<std::unique_ptr<DrivenClock>()>& drive) {
  const Megahertz first = timing.wish(clock.now(), Seconds{0}).clock;
  try {
    driven = drive();
    if (first.value() > 0) {
      driven->lock(first);
      asked = first;
    }
  } catch (const Error& error) {
    report(fmt::format("the pipeline's frequency plan is not followed: {}", error.what()));
    if (driven) {
      put_back();
    }
    return;
  }
  thread = background_thread([this] { follow(); });
}

void ClockFollower::State::follow() {
  std::unique_lock lock{mutex};
  while (!closing && trouble.empty()) {
    if (change) {
      look(lock);
    }
    // From here on the lock is held until the thread waits, so that no event is missed.
    const Instant now = clock.now();
    const PipelineTiming::Wish wish = timing.wish(now, fixed_lead.value_or(latencies.lead()));
    if (wish.clock.value() > 0 && wish.clock != asked) {
      ask(lock, wish.clock);
      continue;
    }
    // An event wakes the thread earlier.
    Instant until = wish.until.value_or(now + Seconds{3600});
    if (change) {
      until = std::min(until, now + look_every);
    }
    if (!closing && trouble.empty()) {
      clock.wait_until(lock, happened, until);
      renew(lock);
    }
  }
  lock.unlock();
  put_back();
}

void ClockFollower::State::ask(std::unique_lock<std::mutex>& lock, Megahertz wanted) {
  asked = wanted;
  change = Change{.clock = wanted, .asked = clock.now()};
  lock.unlock();
  std::string failure;
  try {
    driven->lock(wanted);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  lock.lock();
  if (!failure.empty()) {
    report(
        fmt::format("the pipeline's frequency plan is no longer followed: the clock could not be locked to {} MHz: {}",
                    wanted.value(), failure));
  }
}

void ClockFollower::State::look(std::unique_lock<std::mutex>& lock) {
  const Change looked_for = *change;
  lock.unlock();
  const std::optional<Megahertz> running = driven->running();
  const Seconds taken = clock.now() - looked_for.asked;
  lock.lock();
  const bool there = running && std::abs(running->value() - looked_for.clock.value()) < close_enough_mhz;
  if (there) {
    latencies.add(taken);
  }
  // What takes longer is something else: the GPU idles, or its clock is held down for another reason.
  if (there || !running || taken > longest_lead) {
    change.reset();
  }
}

void ClockFollower::State::renew(std::unique_lock<std::mutex>& lock) {
  if (!std::exchange(progress, false)) {
    return;
  }
  lock.unlock();
  std::string failure;
  try {
    driven->renew();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  lock.lock();
  if (!failure.empty()) {
    report(fmt::format("the pipeline's frequency plan is no longer followed: {}", failure));
  }
}

// Called with `mutex` held, or while there is no thread.
void ClockFollower::State::report(const std::string& what) {
  trouble += trouble.empty() ? what : "; " + what;
  if (logs) {
    log::warning(what);
  }
}

void ClockFollower::State::put_back() {
  try {
    driven->put_back();
  } catch (const std::exception& error) {
    const std::lock_guard guard{mutex};
    report(fmt::format("what was found could not be put back: {}", error.what()));
  }
}

ClockFollower::ClockFollower(std::vector<PipelineInstruction> instructions,
                             const std::function<std::unique_ptr<DrivenClock>()>& drive, Clock& clock,
                             const PipelineClocksOptions& options)
    : owner_{::getpid()} {
  const std::optional<Seconds> lead = options.lead;
  if (lead && !(std::isfinite(lead->value()) && lead->value() >= 0)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a lead of {} s is not possible", lead->value())};
  }
  state_ = std::make_unique<State>(std::move(instructions), clock, options);
  state_->begin(drive);
}

ClockFollower::~ClockFollower() {
  if (is_ours()) {
    {
      const std::lock_guard guard{state_->mutex};
      state_->logs = true;  // from here on trouble() cannot be read
    }
    close();
  } else {
    (void)state_.release();  // its thread is the parent's, and its lock may never be free
  }
}

bool ClockFollower::is_ours() const {
  return owner_ == ::getpid();
}

void ClockFollower::begin(std::string_view instruction) {
  if (!is_ours()) {
    return;
  }
  {
    const std::lock_guard guard{state_->mutex};
    state_->timing.begin(instruction, state_->clock.now());
    state_->progress = true;
  }
  state_->happened.notify_one();
}

void ClockFollower::end(std::string_view instruction) {
  if (!is_ours()) {
    return;
  }
  {
    const std::lock_guard guard{state_->mutex};
    state_->timing.end(instruction);
  }
  state_->happened.notify_one();
}

void ClockFollower::end_iteration() {
  if (!is_ours()) {
    return;
  }
  const std::lock_guard guard{state_->mutex};
  state_->timing.end_iteration();
}

std::optional<Seconds> ClockFollower::latency() const {
  if (!is_ours()) {
    return std::nullopt;
  }
  const std::lock_guard guard{state_->mutex};
  return state_->latencies.longest();
}

std::string ClockFollower::trouble() const {
  if (!is_ours()) {
    return "it was made before this process was forked";
  }
  const std::lock_guard guard{state_->mutex};
  return state_->trouble;
}

void ClockFollower::close() {
  if (!is_ours()) {
    return;
  }
  std::thread ended;
  {
    const std::lock_guard guard{state_->mutex};
    state_->closing = true;
    ended = std::move(state_->thread);
  }
  state_->happened.notify_one();
  if (ended.joinable()) {
    ended.join();
  }
}

}  // namespace zeus::pacing
