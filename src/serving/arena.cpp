#include "serving/arena.hpp"

#include "base/amount_text.hpp"
#include "base/background_thread.hpp"
#include "base/random.hpp"
#include "base/random_id.hpp"
#include "protocol/error_body.hpp"
#include "protocol/event_stream.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "transport/same_site.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace zeus::serving {

namespace {

using protocol::Status;

constexpr const char* answer_window = "zeus llm arena";
constexpr std::size_t most_waiting = 64;
constexpr std::size_t longest_prompt = std::size_t{256} << 10U;
constexpr std::size_t longest_answer = std::size_t{4} << 20U;  // that a browser has not read yet
constexpr std::size_t most_kept = 1000;                        // that can still be voted on
constexpr std::array<std::string_view, 2> place_names{"left", "right"};
// No script but the page's own, which writes what the models say as text alone.
constexpr std::string_view content_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

struct Asked {
  std::string prompt = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("prompt", self.prompt);
  }
};

enum class Chosen { left, right, neither };

constexpr auto names_of(Chosen /*chosen*/) {
  return std::array<field::Name<Chosen>, 3>{
      {{Chosen::left, "left"}, {Chosen::right, "right"}, {Chosen::neither, "neither"}}};
}

// One of the two votes.
struct Voted {
  std::string id = {};
  std::optional<Chosen> better = {};
  std::optional<bool> worth = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("better", self.better, field::may_lack({}));
    fields("worth", self.worth, field::may_lack({}));
  }
};

transport::Answer answer_of(Status status, std::string_view type, std::string body) {
  return {.status = static_cast<int>(status),
          .headers = {{"Content-Type", std::string{type}},
                      {"Cache-Control", "no-store"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Content-Security-Policy", std::string{content_policy}}},
          .body = std::move(body)};
}

transport::Answer refused(Status status, std::string_view why) {
  return answer_of(status, protocol::json_type, protocol::error_body(why));
}

transport::Answer refused(const Error& error) {
  const bool is_asked = error.kind() == ErrorKind::corrupt_data || error.kind() == ErrorKind::invalid_argument;
  return refused(is_asked ? Status::bad_request : Status::internal, error.message());
}

}  // namespace

// The events of one comparison. Two threads may send.
struct Arena::Sending {
  std::shared_ptr<transport::Stream> stream;
  std::atomic<bool> has_lost = false;  // a piece: its browser does not read

  template <typename Members>
  void send(const Members& members) {
    records::JsonWriter json;
    json.object([&] { members(json); });
    if (!stream->offer(std::make_shared<const std::string>(protocol::event_text(json.take())))) {
      has_lost = true;
    }
  }
  void fail(std::string_view why) {
    send([&](records::JsonWriter& json) { json.put("failure", why); });
  }
  [[nodiscard]] bool has_gone() const { return has_lost || stream->is_over(); }
};

struct Arena::Comparison {
  std::size_t left = 0;  // which side was shown there
  std::array<JudgedAnswer, 2> answers = {};
  std::optional<Better> better = {};
  bool has_worth = false;

  // Whether the better answer is known to have taken more energy.
  [[nodiscard]] bool asks_for_worth() const {
    const bool is_known = better && *better != Better::neither && answers[0].energy && answers[1].energy;
    const std::size_t best = better == Better::a ? 0 : 1;
    return is_known && answers.at(best).energy->value > answers.at(1 - best).energy->value;
  }

  [[nodiscard]] std::string shown() const {
    records::JsonWriter json;
    json.object([&] {
      for (std::size_t place = 0; place < 2; ++place) {
        const JudgedAnswer& one = answers[place == 0 ? left : 1 - left];
        json.put(place_names[place], [&] {
          json.put_fields(one);
          json.put("shown_tokens", one.output_tokens ? fmt::format("{}", *one.output_tokens)
                                                     : fmt::format("not known: {}", one.why_no_tokens));
          json.put("shown_time", to_text(one.time));
          json.put("shown_energy", one.energy ? to_text(one.energy->value, one.energy->uncertainty)
                                              : fmt::format("not known: {}", one.why_no_energy));
        });
      }
      json.put("asks_for_worth", asks_for_worth());
    });
    return json.take();
  }
};

Arena::Arena(transport::EventLoop& loop, Clock& clock, ArenaPlan plan, VoteFile& votes)
    : clock_{&clock},
      plan_{std::move(plan)},
      votes_{&votes},
      server_{loop,
              clock,
              {.body = longest_prompt, .connections = 64, .most_unsent = longest_answer},
              [this](const std::shared_ptr<transport::Exchange>& exchange) { handle(exchange); }},
      workers_{2, most_waiting} {
}

Arena::~Arena() {
  ends_ = true;
}

void Arena::handle(const std::shared_ptr<transport::Exchange>& exchange) {
  const transport::Request& request = exchange->request();
  const std::string what = request.method + " " + request.path;
  const auto host = request.headers.get("host");
  if (const auto why = transport::why_foreign(request.headers)) {
    exchange->answer(refused(Status::forbidden, fmt::format("this comes from a page of another site: {}", *why)));
  } else if (!host || !transport::is_loopback_name(*host)) {
    exchange->answer(refused(Status::forbidden, "the arena is not known by that name; use localhost"));
  } else if (what == "GET /") {
    exchange->answer(answer_of(Status::ok, "text/html; charset=utf-8", arena_page()));
  } else if (what == "POST /ask") {
    ask_both(exchange);
  } else if (what == "POST /vote") {
    if (!workers_.add("vote", [this, exchange] { exchange->answer(take_vote(exchange->request())); })) {
      exchange->answer(refused(Status::stuck, "too many votes wait here; vote again in a moment"));
    }
  } else {
    exchange->answer(refused(Status::not_found, "there is no such page"));
  }
}

void Arena::ask_both(const std::shared_ptr<transport::Exchange>& exchange) {
  std::string prompt;
  try {
    prompt = records::record_from_json<Asked>(exchange->request().body, {.refusal = "this is not a prompt"}).prompt;
    if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw Error{ErrorKind::invalid_argument, "the prompt is empty; write one"};
    }
  } catch (const Error& error) {
    return exchange->answer(refused(error));
  }
  const auto to = std::make_shared<Sending>();
  to->stream =
      exchange->stream(static_cast<int>(Status::ok),
                       {{"Content-Type", std::string{protocol::event_stream_type}}, {"Cache-Control", "no-store"}});
  to->send([&](records::JsonWriter& json) { json.put("waits", under_way_ > 0); });
  ++under_way_;
  const bool taken = workers_.add("ask", [this, to, prompt] {
    try {
      compare(*to, prompt);
    } catch (const std::exception& error) {
      to->fail(error.what());
    }
    to->stream->end();
    --under_way_;
  });
  if (!taken) {
    --under_way_;
    to->fail("too many wait here; ask again in a moment");
    to->stream->end();
  }
}

void Arena::compare(Sending& to, const std::string& prompt) {
  if (to.has_gone()) {
    return;
  }
  const auto comparison = std::make_shared<Comparison>();
  comparison->left = Random{plan_.seed, asked_++}.below(2);
  std::array<Answer, 2> answers;  // by place
  const auto ask_at = [&](std::size_t place) {
    const std::size_t side = place == 0 ? comparison->left : 1 - comparison->left;
    try {
      answers.at(place) = answer(to, side, place, prompt, comparison->answers.at(side));
    } catch (const Error& error) {
      answers.at(place) = {.failure = "it could not be measured", .detail = error.message()};
    }
  };
  if (plan_.at_once) {
    std::thread other = background_thread([&] { ask_at(1); });
    ask_at(0);
    other.join();
  } else {
    ask_at(0);
    if (answers[0].is_whole()) {
      ask_at(1);
    }
  }
  for (std::size_t place = 0; place < 2; ++place) {
    if (!answers.at(place).is_whole()) {
      return to.fail(fmt::format("There is no {} answer: {}, {}. Nothing can be voted; ask again.",
                                 place_names.at(place), answers.at(place).failure, answers.at(place).detail));
    }
  }
  const std::string id = random_id();
  {
    const std::lock_guard guard{mutex_};
    comparisons_[id] = comparison;
    in_order_.push_back(id);
    if (in_order_.size() > most_kept) {
      comparisons_.erase(in_order_.front());
      in_order_.pop_front();
    }
  }
  to.send([&](records::JsonWriter& json) { json.put("id", id); });
}

Answer Arena::answer(Sending& to, std::size_t side, std::size_t place, const std::string& prompt,
                     JudgedAnswer& judged) {
  const ArenaSide& asked = plan_.sides.at(side);
  const std::string body =
      request_body(asked.plan.request, {.messages = {{.role = "user", .content = prompt}}, .max_tokens = {}}, asked_);
  asked.monitor->begin(answer_window, true);
  Answer answer = ask(
      asked.plan, body, *clock_, [&] { return !ends_ && !to.has_gone(); },
      [&](std::string_view text) {
        to.send([&](records::JsonWriter& json) {
          json.put("place", place_names.at(place));
          json.put("text", text);
        });
      });
  const MeasuredEnergy energy = asked.monitor->settle(asked.monitor->end(answer_window)).total_gpu_energy();
  judged = {.url = asked.url,
            .model = asked.plan.request.model,
            .time = answer.ended - answer.sent,
            .output_tokens = answer.usage ? std::optional{answer.usage->output_tokens} : std::nullopt,
            .energy = energy.energy,
            .why_no_tokens = "the server did not say how many (no 'usage')",
            .why_no_energy = energy.reason};
  return answer;
}

// Votes are taken one after the other, and nothing else changes a comparison that is kept.
transport::Answer Arena::take_vote(const transport::Request& request) {
  try {
    const auto voted = records::record_from_json<Voted>(request.body, {.refusal = "this is not a vote"});
    const std::shared_ptr<Comparison> one = [&] {
      const std::lock_guard guard{mutex_};
      const auto found = comparisons_.find(voted.id);
      return found == comparisons_.end() ? nullptr : found->second;
    }();
    if (!one) {
      return refused(Status::not_found, "these answers are not known here any more; ask again");
    }
    if (voted.better && !one->better) {
      const bool is_a = (*voted.better == Chosen::left) == (one->left == 0);
      const Better better = *voted.better == Chosen::neither ? Better::neither : is_a ? Better::a : Better::b;
      votes_->append(BetterVote{
          .id = voted.id, .at = clock_->wall(), .a = one->answers[0], .b = one->answers[1], .better = better});
      one->better = better;
      return answer_of(Status::ok, protocol::json_type, one->shown());
    }
    if (voted.worth && one->asks_for_worth() && !one->has_worth) {
      votes_->append(WorthVote{.id = voted.id, .worth = *voted.worth});
      one->has_worth = true;
      return answer_of(Status::ok, protocol::json_type, "{}");
    }
    return refused(Status::conflict, "this was voted already, or cannot be voted; ask again");
  } catch (const Error& error) {
    return refused(error);
  }
}

}  // namespace zeus::serving
