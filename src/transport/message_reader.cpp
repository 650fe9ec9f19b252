#include "transport/message_reader.hpp"

#include "transport/long_body.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

// Beast's parser asserts something that does not hold if bytes come one by one ("0\r\n\r" of a last chunk); it goes on
// well.
#define BOOST_DISABLE_ASSERTS  // NOLINT(readability-identifier-naming)
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#undef BOOST_DISABLE_ASSERTS
#include <boost/assert.hpp>  // what follows asserts as usual

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace zeus::transport {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

std::string string_of(Text text) {
  return {text.data(), text.size()};
}

}  // namespace

// What both kinds of messages share: heads become Headers, bodies a string. Trailers after the body are dropped, so
// that they cannot replace headers that were already checked.
template <bool IsRequest>
class MessageParser : public http::basic_parser<IsRequest> {
 public:
  Headers headers{};
  std::string body{};
  std::string method{};
  std::string target{};
  int status = 0;
  int version = 0;
  std::size_t head_length = 0;
  RequestReader::BodyOf body_of{};
  std::size_t longest_untaken = std::numeric_limits<std::size_t>::max();
  std::size_t most_in_memory = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<LongBody> long_body{};

 private:
  void on_request_impl(http::verb /*verb*/, Text name, Text where, int number, error_code& /*error*/) override {
    version = number;
    method = string_of(name);
    target = string_of(where);
    if (body_of) {
      this->body_limit(body_of(method, target));
    }
  }
  void on_response_impl(int code, Text /*reason*/, int number, error_code& /*error*/) override {
    version = number;
    status = code;
  }
  void on_field_impl(http::field /*field*/, Text name, Text value, error_code& /*error*/) override {
    if (!has_head_) {
      headers.add(string_of(name), string_of(value));
    }
  }
  void on_header_impl(error_code& /*error*/) override { has_head_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, error_code& /*error*/) override {}
  std::size_t on_body_impl(Text piece, error_code& error) override { return take(piece, error); }
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/, error_code& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, Text piece, error_code& error) override {
    return take(piece, error);
  }
  void on_finish_impl(error_code& /*error*/) override {}

  std::size_t take(Text piece, error_code& error) {
    if (piece.size() > longest_untaken - std::min(body.size(), longest_untaken)) {
      error = http::error::body_limit;
      return 0;
    }
    if (!long_body && piece.size() <= most_in_memory - std::min(body.size(), most_in_memory)) {
      body.append(piece.data(), piece.size());
      return piece.size();
    }
    try {
      if (!long_body) {
        long_body = std::make_shared<LongBody>();
        long_body->append(std::exchange(body, {}));
      }
      long_body->append({piece.data(), piece.size()});
    } catch (const Error&) {
      error = http::error::buffer_overflow;
      return 0;
    }
    return piece.size();
  }

  bool has_head_ = false;
};

namespace {

// How far one call of the parser has come.
enum class Progress { more, further, whole };

template <bool IsRequest>
Progress feed(MessageParser<IsRequest>& parser, InputBuffer& buffer, error_code& error) {
  if (parser.is_done()) {
    return Progress::whole;
  }
  const std::string_view waiting = buffer.waiting();
  if (waiting.empty()) {
    return Progress::more;
  }
  const bool in_head = !parser.is_header_done();
  const std::size_t used = parser.put(boost::asio::const_buffer{waiting.data(), waiting.size()}, error);
  buffer.use(used);
  if (in_head) {
    parser.head_length += used;
  }
  if (error == http::error::need_more) {
    error = {};
    return Progress::more;
  }
  return Progress::further;
}

}  // namespace

struct RequestReader::State {
  std::size_t longest_head;
  std::size_t longest_body;
  InputBuffer buffer;
  std::optional<MessageParser<true>> parser{};
  bool head_is_judged = false;
  bool wishes_to_continue = false;
  int status = 0;
  std::string_view reason{};
  BodyOf body_of;

  State(std::size_t head, std::size_t body, BodyOf its_body_of)
      : longest_head{head}, longest_body{body}, buffer{head}, body_of{std::move(its_body_of)} {}

  void begin() {
    parser.emplace();
    parser->eager(false);
    parser->header_limit(static_cast<std::uint32_t>(longest_head));
    parser->body_limit(longest_body);
    parser->body_of = body_of;
    parser->most_in_memory = longest_body;
    head_is_judged = false;
    wishes_to_continue = false;
  }

  Step refuse(int with, std::string_view why) {
    status = with;
    reason = why;
    return Step::refused;
  }

  Step refuse(const error_code& error) {
    if (error == http::error::body_limit) {
      return refuse(413, "the body is too long");
    }
    if (error == http::error::buffer_overflow) {
      return refuse(503, "there is no room to keep the body");
    }
    if (error == http::error::header_limit) {
      return refuse(431, "the head of the request is too long");
    }
    if (error == http::error::bad_version) {
      return refuse(400, "the request is not one of HTTP/1.1 or HTTP/1.0");
    }
    return refuse(400, "the request is malformed");
  }

  // Refuses what the grammar allows but two servers might read in two ways; `more` if there is nothing of the kind.
  Step judge_head() {
    const Headers& headers = parser->headers;
    const std::size_t encodings = headers.count("Transfer-Encoding");
    if (encodings > 0) {
      if (headers.count("Content-Length") > 0) {
        return refuse(400, "the request has both a Content-Length and a Transfer-Encoding");
      }
      if (parser->version < 11) {
        return refuse(400, "HTTP/1.0 knows no Transfer-Encoding");
      }
      if (encodings > 1 || !parser->chunked() || !same_name(*headers.get("Transfer-Encoding"), "chunked")) {
        return refuse(501, "the only Transfer-Encoding is chunked");
      }
    }
    if (headers.count("Host") > 1) {
      return refuse(400, "the request has more than one Host");
    }
    if (parser->version >= 11 && headers.count("Host") == 0) {
      return refuse(400, "the request names no Host");
    }
    if (!judge_target()) {
      return refuse(400, "the target of the request is not a path");
    }
    if (const auto expected = headers.get("Expect")) {
      if (!same_name(*expected, "100-continue")) {
        return refuse(417, "the only expectation that is met is 100-continue");
      }
      wishes_to_continue = parser->version >= 11 && !parser->is_done();
    }
    return Step::more;
  }

  // "/path?query", "*", or either after "http://host".
  bool judge_target() {
    std::string& target = parser->target;
    constexpr std::string_view scheme{"http://"};
    if (same_name(std::string_view{target}.substr(0, scheme.size()), scheme)) {
      const std::size_t path = target.find_first_of("/?", scheme.size());
      if (path == std::string::npos || target[path] == '?') {
        target = "/" + (path == std::string::npos ? std::string{} : target.substr(path));
      } else {
        target.erase(0, path);
      }
    }
    return target.starts_with('/') || target == "*";
  }
};

RequestReader::RequestReader(std::size_t longest_head, std::size_t longest_body, BodyOf body_of)
    : state_{std::make_unique<State>(longest_head, longest_body, std::move(body_of))} {
  state_->begin();
}

RequestReader::~RequestReader() = default;

InputBuffer& RequestReader::buffer() {
  return state_->buffer;
}

RequestReader::Step RequestReader::step() {
  State& state = *state_;
  if (state.parser->is_done()) {
    return Step::whole;
  }
  if (!state.parser->got_some()) {
    // Some clients end a body with a line break that belongs to no message.
    while (state.buffer.waiting().starts_with("\r\n")) {
      state.buffer.use(2);
    }
    if (state.buffer.is_empty() || state.buffer.waiting() == "\r") {
      return Step::more;
    }
  }
  while (true) {
    error_code error;
    const Progress progress = feed(*state.parser, state.buffer, error);
    if (error) {
      return state.refuse(error);
    }
    // The parser bounds each line; lines that it has consumed no longer count there.
    const bool has_head = state.parser->is_header_done();
    const std::size_t head_length = state.parser->head_length + (has_head ? 0 : state.buffer.waiting().size());
    if (head_length > state.longest_head || (!has_head && head_length == state.longest_head)) {
      return state.refuse(http::error::header_limit);
    }
    if (has_head && !state.head_is_judged) {
      state.head_is_judged = true;
      if (state.judge_head() == Step::refused) {
        return Step::refused;
      }
    }
    if (progress == Progress::whole) {
      return Step::whole;
    }
    if (progress == Progress::more) {
      // What does not fit is the line before a chunk, or the lines after the last one.
      return state.buffer.waiting().size() < state.longest_head ? Step::more : state.refuse(http::error::bad_chunk);
    }
  }
}

bool RequestReader::has_begun() const {
  return state_->parser->got_some() || !state_->buffer.is_empty();
}

bool RequestReader::has_head() const {
  return state_->parser->is_header_done();
}

bool RequestReader::take_wish_to_continue() {
  return std::exchange(state_->wishes_to_continue, false);
}

Request RequestReader::take_request() {
  MessageParser<true>& parser = *state_->parser;
  Request request{std::move(parser.method),  std::move(parser.target), {},
                  std::move(parser.headers), std::move(parser.body),   std::move(parser.long_body)};
  if (const std::size_t mark = request.path.find('?'); mark != std::string::npos) {
    request.query = request.path.substr(mark + 1);
    request.path.resize(mark);
  }
  state_->begin();
  return request;
}

bool RequestReader::keeps_alive() const {
  return state_->parser->keep_alive();
}

bool RequestReader::is_http_1_0() const {
  return state_->parser->version < 11;
}

int RequestReader::status() const {
  return state_->status;
}

std::string_view RequestReader::reason() const {
  return state_->reason;
}

struct AnswerReader::State {
  bool to_head_request;
  InputBuffer buffer{longest_head};
  std::size_t longest_body;
  std::optional<MessageParser<false>> parser{};
  bool head_is_known = false;
  Answer answer{};

  static constexpr std::size_t longest_head = 64UL * 1024;

  State(bool to_head, std::size_t body) : to_head_request{to_head}, longest_body{body} { begin(); }

  void begin() {
    parser.emplace();
    parser->eager(false);
    parser->header_limit(longest_head);
    parser->body_limit(boost::none);
    parser->skip(to_head_request);
    parser->longest_untaken = longest_body;
  }
};

AnswerReader::AnswerReader(bool to_head_request, std::size_t longest_body)
    : state_{std::make_unique<State>(to_head_request, longest_body)} {
}

AnswerReader::~AnswerReader() = default;

InputBuffer& AnswerReader::buffer() {
  return state_->buffer;
}

namespace {

Error no_answer(const std::string& server, std::string_view why) {
  return {ErrorKind::corrupt_data, fmt::format("what {} sent is not an HTTP answer: {}", server, why),
          "check whether another program listens there"};
}

Error no_answer(const std::string& server, const error_code& error) {
  if (error == http::error::body_limit) {
    return no_answer(server, "it is longer than any expected answer");
  }
  return no_answer(server, error.message());
}

}  // namespace

AnswerReader::Step AnswerReader::step(const std::string& server) {
  State& state = *state_;
  while (true) {
    MessageParser<false>& parser = *state.parser;
    parser.longest_untaken = state.longest_body - std::min(state.longest_body, state.answer.body.size());
    error_code error;
    const Progress progress = feed(parser, state.buffer, error);
    if (error) {
      throw no_answer(server, error);
    }
    if (!parser.is_header_done()) {
      if (parser.head_length + state.buffer.waiting().size() >= State::longest_head) {
        throw no_answer(server, "its head is too long");
      }
    } else if (!state.head_is_known) {
      constexpr int switching = 101;
      if (parser.status / 100 == 1 && parser.status != switching) {
        state.begin();
        continue;
      }
      state.head_is_known = true;
      state.answer.status = parser.status;
      state.answer.headers = std::move(parser.headers);
    }
    state.answer.body += parser.body;
    parser.body.clear();
    if (progress == Progress::whole) {
      return Step::whole;
    }
    if (progress == Progress::more) {
      if (state.buffer.waiting().size() >= State::longest_head) {
        throw no_answer(server, "a line of it is too long");
      }
      return Step::more;
    }
  }
}

AnswerReader::Step AnswerReader::end(const std::string& server) {
  MessageParser<false>& parser = *state_->parser;
  error_code error = http::error::partial_message;
  if (parser.got_some() && !parser.is_done()) {
    parser.put_eof(error);
  }
  if (error && !parser.is_done()) {
    throw Error{ErrorKind::unavailable, fmt::format("{} went away in the middle of its answer", server),
                "check whether the server runs"};
  }
  return Step::whole;
}

bool AnswerReader::has_begun() const {
  return state_->head_is_known || state_->parser->got_some() || !state_->buffer.is_empty();
}

bool AnswerReader::has_head() const {
  return state_->head_is_known;
}

bool AnswerReader::keeps_alive() const {
  return state_->parser->keep_alive() && state_->buffer.is_empty();
}

Answer& AnswerReader::answer() {
  return state_->answer;
}

}  // namespace zeus::transport
