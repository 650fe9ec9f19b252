#include "serving/http_traffic.hpp"

#include "base/background_thread.hpp"
#include "base/random.hpp"
#include "serving/answer_stream.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace zeus::serving {

namespace {

constexpr Seconds look_around{0.2};          // how often a silent answer is looked after
constexpr Seconds pause_after_failure{0.5};  // a server that refuses is not asked as fast as it refuses
constexpr std::uint64_t fewest_failures_to_give_up = 20;
constexpr std::size_t longest_unread = std::size_t{16} << 20U;

bool is_json(const transport::Answer& answer) {
  const auto type = answer.headers.get("Content-Type");
  return type && type->starts_with("application/json");
}

void fail_by_status(AnswerStream& stream, const transport::Answer& answer) {
  const auto place = answer.headers.get("Location");
  stream.fail(fmt::format("status {}", answer.status),
              answer.status / 100 == 3 && place ? fmt::format("it redirects to {}", *place) : error_text(answer.body));
}

void fail_by_error(AnswerStream& stream, const Error& error, bool has_begun) {
  switch (error.kind()) {
    case ErrorKind::corrupt_data:
      return stream.fail("not HTTP", error.message());
    default:
      return stream.fail(has_begun ? "broke off" : "no connection", error.message());
  }
}

class Asking {
 public:
  Asking(const HttpPlan& plan, const Clock& clock, AnswerStream& stream)
      : plan_{&plan}, clock_{&clock}, stream_{&stream}, last_{clock.now() + plan.answer_time} {}

  void ask(const transport::Request& request, const std::function<bool()>& goes_on) {
    try {
      transport::ClientPlan server = plan_->server;
      server.longest_answer = longest_unread;
      transport::StreamReader reader{std::move(server), request, transport::StreamReader::Until::sent};
      while (goes_on_after(reader)) {
        if (!goes_on()) {
          stream_->fail(unfinished, "the run was ended");
        } else if (clock_->now() > last_) {
          stream_->fail("took too long", fmt::format("it had not ended after {} s", plan_->answer_time.value()));
        }
      }
    } catch (const Error& error) {
      fail_by_error(*stream_, error, has_begun_);
    }
    stream_->end(clock_->now());
  }

 private:
  // Reads what comes next; false if there is nothing more to read.
  bool goes_on_after(transport::StreamReader& reader) {
    if (stream_->is_done()) {
      return false;
    }
    std::optional<std::string> piece;
    try {
      piece = reader.read(look_around);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::timeout) {
        throw;
      }
      has_begun_ = reader.has_head();
      return true;
    }
    has_begun_ = true;
    const transport::Answer& answer = reader.answer();
    if (answer.status / 100 != 2) {
      fail_by_status(*stream_, answer);
      return false;
    }
    if (!is_json(answer)) {
      if (piece) {
        stream_->read(*piece, clock_->now());
      }
      return piece.has_value();
    }
    if (piece && whole_.size() < longest_unread) {
      whole_ += *piece;
    } else {
      stream_->fail(fmt::format("status {} without a stream", answer.status), error_text(whole_));
    }
    return piece.has_value();
  }

  const HttpPlan* plan_;
  const Clock* clock_;
  AnswerStream* stream_;
  Instant last_;
  std::string whole_;  // of an answer that is not a stream
  bool has_begun_ = false;
};

}  // namespace

Answer ask(const HttpPlan& plan, const std::string& body, Clock& clock, const std::function<bool()>& goes_on,
           const std::function<void(std::string_view text)>& on_text) {
  const transport::Request request{.method = "POST",
                                   .path = plan.prefix + std::string{path_of(plan.request.route)},
                                   .query = {},
                                   .headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}},
                                   .body = body};
  AnswerStream stream{on_text};
  stream.answer().sent = clock.now();
  Asking{plan, clock, stream}.ask(request, goes_on);
  return std::move(stream.answer());
}

struct HttpTraffic::State {
  HttpPlan plan;
  std::vector<Prompt> prompts;
  Clock& clock;
  std::uint64_t failures_to_give_up;
  mutable std::mutex mutex{};
  std::condition_variable woken{};
  std::vector<Answer> answers{};  // by request
  std::uint64_t next = 0;
  std::uint64_t sent = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed_in_a_row = 0;
  bool stopped = false;
  bool given_up = false;
  Instant due{};
  Random moments;
  std::vector<std::thread> threads{};

  State(HttpPlan its_plan, std::vector<Prompt> its_prompts, Clock& its_clock)
      : plan{std::move(its_plan)},
        prompts{std::move(its_prompts)},
        clock{its_clock},
        failures_to_give_up{std::max(fewest_failures_to_give_up, 2 * plan.in_flight)},
        answers(prompts.size()),
        due{clock.now()},
        moments{plan.request.seed, 0, 1} {}

  struct Turn {
    std::size_t number = 0;
    Instant due;
  };

  // The next request, when it is due; nothing if there is none.
  std::optional<Turn> take_turn() {
    std::unique_lock lock{mutex};
    if (stopped || next == prompts.size()) {
      return std::nullopt;
    }
    Turn turn{.number = next++, .due = clock.now()};
    if (plan.rate) {
      due = due + Seconds{moments.exponential() / *plan.rate};
      turn.due = due;
      wait(lock, due);
    }
    if (stopped) {
      return std::nullopt;
    }
    ++sent;
    return turn;
  }

  void wait(std::unique_lock<std::mutex>& lock, Instant until) {
    while (!stopped && clock.now() < until) {
      clock.wait_until(lock, woken, until);
    }
  }

  [[nodiscard]] bool goes_on() const {
    const std::lock_guard guard{mutex};
    return !stopped;
  }

  void keep(const Turn& turn, Answer answer) {
    std::unique_lock lock{mutex};
    const bool is_whole = answer.is_whole();
    answer.due = turn.due;
    answers[turn.number] = std::move(answer);
    ++ended;
    failed_in_a_row = is_whole ? 0 : failed_in_a_row + 1;
    if (!stopped && failed_in_a_row >= failures_to_give_up) {
      given_up = true;
      stopped = true;
      woken.notify_all();
    }
    if (!is_whole && !plan.rate) {
      wait(lock, clock.now() + pause_after_failure);
    }
  }

  void work() {
    while (const auto turn = take_turn()) {
      const std::string body = request_body(plan.request, prompts[turn->number], turn->number);
      keep(*turn, ask(plan, body, clock, [this] { return goes_on(); }));
    }
  }

  void end() {
    {
      const std::lock_guard guard{mutex};
      stopped = true;
    }
    woken.notify_all();
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
  }
};

HttpTraffic::HttpTraffic(HttpPlan plan, std::vector<Prompt> prompts, Clock& clock)
    : state_{std::make_unique<State>(std::move(plan), std::move(prompts), clock)} {
  const std::uint64_t count = std::min<std::uint64_t>(state_->plan.in_flight, state_->prompts.size());
  try {
    for (std::uint64_t i = 0; i < count; ++i) {
      state_->threads.push_back(background_thread([state = state_.get()] { state->work(); }));
    }
  } catch (const std::exception& error) {
    state_->end();
    throw Error{ErrorKind::unavailable, fmt::format("cannot start {} threads: {}", count, error.what()),
                "send fewer requests at once"};
  }
}

HttpTraffic::~HttpTraffic() {
  state_->end();
}

bool HttpTraffic::is_over() const {
  const std::lock_guard guard{state_->mutex};
  return state_->ended == state_->sent && (state_->stopped || state_->sent == state_->prompts.size());
}

bool HttpTraffic::has_given_up() const {
  const std::lock_guard guard{state_->mutex};
  return state_->given_up;
}

Traffic::Progress HttpTraffic::progress() const {
  const std::lock_guard guard{state_->mutex};
  return {.sent = state_->sent, .ended = state_->ended};
}

void HttpTraffic::stop() {
  state_->end();
}

std::vector<Answer> HttpTraffic::take_answers() {
  state_->end();
  // At a rate, a turn that was cut short may stand before one that was sent.
  std::erase_if(state_->answers, [](const Answer& answer) { return answer.sent == Instant{}; });
  return std::move(state_->answers);
}

}  // namespace zeus::serving
