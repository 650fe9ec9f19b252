#include "transport/client.hpp"

#include "transport/client_connection.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace zeus::transport {

namespace {

Error gone(const std::string& server) {
  return {ErrorKind::unavailable, fmt::format("{} closed the connection without an answer", server),
          "check whether the server runs"};
}

}  // namespace

Endpoint Endpoint::from(std::string_view text) {
  return text.find('/') == std::string_view::npos ? Endpoint{{}, std::string{text}} : Endpoint{std::string{text}, {}};
}

struct HttpClient::State {
  ClientPlan plan;
  std::optional<ClientConnection> kept{};

  explicit State(ClientPlan its_plan) : plan{std::move(its_plan)} {}

  // Empty if the server has closed the connection before it sent anything.
  std::optional<Answer> ask_on(ClientConnection& connection, const Request& request, const std::string& text,
                               Seconds answer_time) {
    connection.allow(answer_time);
    AnswerReader reader{request.method == "HEAD", plan.longest_answer};
    connection.send(text);
    while (true) {
      switch (connection.receive(reader)) {
        case ClientConnection::Came::more:
          continue;
        case ClientConnection::Came::whole:
          break;
        case ClientConnection::Came::gone:
          if (!reader.has_begun()) {
            return std::nullopt;
          }
          reader.end(plan.server.name());
          return std::move(reader.answer());
      }
      if (reader.keeps_alive()) {
        kept = std::move(connection);
      }
      return std::move(reader.answer());
    }
  }
};

HttpClient::HttpClient(ClientPlan plan) : state_{std::make_unique<State>(std::move(plan))} {
}

HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

const ClientPlan& HttpClient::plan() const {
  return state_->plan;
}

Answer HttpClient::ask(const Request& request) {
  return ask(request, state_->plan.answer_time);
}

Answer HttpClient::ask(const Request& request, Seconds answer_time) {
  const std::string text = request_text(state_->plan, request);
  // After any error a kept connection is given up: a late answer must not reach another request.
  if (std::optional<ClientConnection> kept = std::exchange(state_->kept, std::nullopt); kept && kept->is_good()) {
    if (std::optional<Answer> answer = state_->ask_on(*kept, request, text, answer_time)) {
      return std::move(*answer);
    }
    if (request.method != "GET") {
      throw gone(state_->plan.server.name());
    }
  }
  ClientPlan plan = state_->plan;
  plan.connect_time = std::min(plan.connect_time, answer_time);
  ClientConnection connection{plan};
  if (std::optional<Answer> answer = state_->ask_on(connection, request, text, answer_time)) {
    return std::move(*answer);
  }
  throw gone(state_->plan.server.name());
}

struct StreamReader::State {
  ClientPlan plan;
  ClientConnection connection;
  AnswerReader reader;
  bool is_over = false;

  State(ClientPlan its_plan, const Request& request)
      : plan{std::move(its_plan)}, connection{plan}, reader{request.method == "HEAD", plan.longest_answer} {
    connection.allow(plan.answer_time);
    connection.send(request_text(plan, request));
  }

  void receive_head() {
    while (!is_over && !is_stream()) {
      receive();
    }
  }

  [[nodiscard]] bool is_stream() { return reader.has_head() && reader.answer().status / 100 == 2; }

  void receive() {
    switch (connection.receive(reader)) {
      case ClientConnection::Came::more:
        break;
      case ClientConnection::Came::whole:
        is_over = true;
        break;
      case ClientConnection::Came::gone:
        if (!reader.has_begun()) {
          throw gone(plan.server.name());
        }
        is_over = true;
        reader.end(plan.server.name());
        break;
    }
  }
};

StreamReader::StreamReader(ClientPlan plan, const Request& request, Until until)
    : state_{std::make_unique<State>(std::move(plan), request)} {
  if (until == Until::head) {
    state_->receive_head();
  }
}

StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;
StreamReader::~StreamReader() = default;

bool StreamReader::has_head() const {
  return state_->reader.has_head();
}

const Answer& StreamReader::answer() const {
  return state_->reader.answer();
}

std::optional<std::string> StreamReader::read(Seconds patience) {
  State& state = *state_;
  state.connection.allow(patience);
  state.receive_head();
  if (!state.is_stream()) {
    return std::nullopt;
  }
  std::string& body = state.reader.answer().body;
  while (body.empty() && !state.is_over) {
    state.receive();
  }
  return body.empty() ? std::nullopt : std::optional{std::exchange(body, {})};
}

int StreamReader::descriptor() const {
  return state_->connection.descriptor();
}

std::string read_answer_for_test(std::string_view bytes, std::size_t piece) {
  const std::string server = "the server";
  constexpr std::size_t longest_body = 1024UL * 1024;
  AnswerReader reader{false, longest_body};
  try {
    bool is_whole = false;
    while (!is_whole && !bytes.empty()) {
      const auto room = reader.buffer().room();
      const std::size_t count = std::min({room.size(), bytes.size(), std::max<std::size_t>(piece, 1)});
      std::memcpy(room.data(), bytes.data(), count);
      reader.buffer().filled(count);
      bytes.remove_prefix(count);
      is_whole = reader.step(server) == AnswerReader::Step::whole;
    }
    if (!is_whole) {
      reader.end(server);
    }
  } catch (const Error& error) {
    return error.what();
  }
  std::string text = fmt::format("{}\n", reader.answer().status);
  for (const auto& [name, value] : reader.answer().headers.all()) {
    text += fmt::format("{}: {}\n", name, value);
  }
  return text + "\n" + reader.answer().body;
}

}  // namespace zeus::transport
