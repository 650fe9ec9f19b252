// A served model on a test's clock, with its clients: it makes its tokens step by step, for all that it answers at
// once, and its GPUs draw what that takes. What it sends is known exactly. One thread.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "serving/answer.hpp"
#include "serving/traffic.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace zeus::test {

struct ServedShape {
  std::uint64_t requests = 0;
  std::size_t in_flight = 1;        // of a closed loop
  std::optional<double> rate = {};  // else at random moments, this many a second
  std::size_t most_running = 64;    // the server answers as many at once, and lets others wait
  Seconds step{0.02};               // for one token of each answer that runs
  Seconds step_each{0.0005};        // more for each of them
  Seconds prompt{0.01};             // for reading a prompt
  std::uint64_t fewest_pieces = 20;
  std::uint64_t most_pieces = 200;
  std::uint64_t tokens_of_piece = 1;
  double refused = 0;  // so large a part of the requests, at once
};

class ServedModel final : public serving::Traffic {
 public:
  // How much work the GPUs do for so many answers, from 0 to 1; called when that changes.
  using OnRunning = std::function<void(std::size_t running)>;

  // Answers are counted, and kept if `keeps`.
  ServedModel(const ServedShape& shape, std::uint64_t seed, const Clock& clock, OnRunning on_running, bool keeps);

  // Does what is due, and returns when more is.
  std::optional<Instant> work();
  // How fast steps are made: 1 at the highest clock.
  void set_speed(double speed) { speed_ = speed; }

  [[nodiscard]] bool is_over() const override { return ended_ == shape_.requests; }
  [[nodiscard]] bool has_given_up() const override { return false; }
  [[nodiscard]] Progress progress() const override { return {.sent = sent_, .ended = ended_}; }
  void stop() override {}
  [[nodiscard]] std::vector<serving::Answer> take_answers() override { return std::move(answers_); }

  [[nodiscard]] std::uint64_t tokens() const { return tokens_; }

 private:
  struct Running {
    std::size_t number = 0;
    std::uint64_t left = 0;
  };

  void send(Instant due);
  // Whether it is refused.
  bool send_one(Instant due);
  void end_step(Instant now);
  void begin_step(Instant now);

  ServedShape shape_;
  const Clock* clock_;
  OnRunning on_running_;
  bool keeps_;
  double speed_ = 1;
  Random lengths_;
  Random moments_;
  Random jitter_;
  Random refusals_;
  std::deque<Running> waiting_;
  std::vector<Running> running_;
  std::optional<Instant> step_ends_;
  std::optional<Instant> next_due_;
  std::size_t shown_running_ = SIZE_MAX;
  std::uint64_t sent_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t tokens_ = 0;
  std::vector<serving::Answer> answers_;
};

}  // namespace zeus::test
