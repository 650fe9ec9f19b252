#include "transport/request_exchange.hpp"

#include "transport/connection.hpp"

#include <atomic>
#include <utility>

namespace zeus::transport {

namespace {

class RequestStream final : public Stream {
 public:
  RequestStream(std::shared_ptr<Connection> connection, std::uint64_t request)
      : connection_{std::move(connection)}, request_{request} {}
  RequestStream(const RequestStream&) = delete;
  RequestStream& operator=(const RequestStream&) = delete;
  ~RequestStream() override {
    try {
      connection_->end_stream(request_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory, its timeout ends it
    }
  }

  bool offer(const std::shared_ptr<const std::string>& piece) override { return connection_->offer(request_, piece); }
  void end() override { connection_->end_stream(request_); }
  [[nodiscard]] bool is_over() const override { return !connection_->waits_for(request_); }

 private:
  std::shared_ptr<Connection> connection_;
  std::uint64_t request_;
};

class RequestExchange final : public Exchange {
 public:
  RequestExchange(std::shared_ptr<Connection> connection, std::uint64_t number, Request request)
      : connection_{std::move(connection)}, number_{number}, request_{std::move(request)} {}
  RequestExchange(const RequestExchange&) = delete;
  RequestExchange& operator=(const RequestExchange&) = delete;
  ~RequestExchange() override {
    try {
      if (!is_answered_.load()) {
        connection_->answer(number_, connection_->refusal(500, "the request was not answered"));
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory, the client's own patience ends it
    }
  }

  [[nodiscard]] const Request& request() const override { return request_; }
  [[nodiscard]] const Peer& peer() const override { return connection_->peer(); }
  void answer(Answer answer) override {
    if (!is_answered_.exchange(true)) {
      connection_->answer(number_, std::move(answer));
    }
  }
  std::shared_ptr<Stream> stream(int status, Headers headers) override {
    if (!is_answered_.exchange(true)) {
      connection_->begin_stream(number_, status, headers);
      return std::make_shared<RequestStream>(connection_, number_);
    }
    return std::make_shared<RequestStream>(connection_, 0);
  }
  [[nodiscard]] bool is_abandoned() const override { return !connection_->waits_for(number_); }
  void when_abandoned(std::function<void()> work) override { connection_->when_abandoned(number_, std::move(work)); }

 private:
  std::shared_ptr<Connection> connection_;
  std::uint64_t number_;
  Request request_;
  std::atomic<bool> is_answered_{false};
};

}  // namespace

std::shared_ptr<Exchange> exchange_of(std::shared_ptr<Connection> connection, std::uint64_t number, Request request) {
  return std::make_shared<RequestExchange>(std::move(connection), number, std::move(request));
}

}  // namespace zeus::transport
