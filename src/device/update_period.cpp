#include "device/update_period.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

namespace zeus::device {

namespace {

constexpr Seconds pause = 1_ms;
constexpr std::size_t enough_moves = 6;

class Watcher {
 public:
  explicit Watcher(const Gpu& gpu) : gpu_{gpu} {}

  // True once there is nothing more to learn.
  [[nodiscard]] bool finished() const { return failure_ || moves_.size() >= enough_moves; }

  void look(Instant now) {
    const Reading<Stamped<Joules>> reading = gpu_.energy();
    if (!reading) {
      failure_ = reading.failure();
      return;
    }
    if (last_ && *last_ != reading->value) {
      moves_.push_back(now);
    }
    last_ = reading->value;
  }

  [[nodiscard]] Reading<Seconds> period() const {
    if (failure_) {
      return *failure_;
    }
    if (moves_.size() < 2) {
      return Failure{Reason::unreliable, "the energy counter stood still while it was watched"};
    }
    std::vector<Seconds> gaps;
    for (std::size_t i = 1; i < moves_.size(); ++i) {
      gaps.push_back(moves_[i] - moves_[i - 1]);
    }
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::ranges::nth_element(gaps, middle);
    return *middle;
  }

 private:
  const Gpu& gpu_;
  std::optional<Joules> last_;
  std::vector<Instant> moves_;
  std::optional<Failure> failure_;
};

}  // namespace

std::vector<Reading<Seconds>> watch_update_periods(std::span<const Gpu* const> gpus, Clock& clock, Seconds patience) {
  std::vector<Watcher> watchers;
  for (const Gpu* const gpu : gpus) {
    watchers.emplace_back(*gpu);
  }
  const Instant deadline = clock.now() + patience;
  while (clock.now() < deadline && !std::ranges::all_of(watchers, &Watcher::finished)) {
    for (Watcher& watcher : watchers) {
      if (!watcher.finished()) {
        watcher.look(clock.now());
      }
    }
    clock.sleep_until(clock.now() + pause);
  }
  std::vector<Reading<Seconds>> periods;
  std::ranges::transform(watchers, std::back_inserter(periods), &Watcher::period);
  return periods;
}

}  // namespace zeus::device
