// One request on its way to its answer: the client, the question, and the ways to answer. Shared by whatever answers
// later. The loop's thread.
#pragma once

#include "daemon/access.hpp"
#include "daemon/refused.hpp"
#include "protocol/error_body.hpp"
#include "protocol/query.hpp"
#include "transport/server.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zeus::daemon {

class Call {
 public:
  // Called with the status and the body.
  using Answered = std::function<void(int status, std::string_view body)>;

  Call(std::shared_ptr<transport::Exchange> exchange, Visitor visitor, Answered answered)
      : exchange_{std::move(exchange)}, visitor_{std::move(visitor)}, answered_{std::move(answered)} {}

  [[nodiscard]] const transport::Request& request() const { return exchange_->request(); }
  [[nodiscard]] const transport::Peer& peer() const { return exchange_->peer(); }
  [[nodiscard]] const Client& client() const { return visitor_.client; }
  [[nodiscard]] const std::optional<tokens::Claims>& claims() const { return visitor_.claims; }

  // Refuses the request and returns false unless the query consists of these parameters.
  bool read_query(std::initializer_list<protocol::Parameter> parameters);

  // For work on the client's behalf: whether the client still waits for it.
  [[nodiscard]] std::function<bool()> wanted() const {
    return [exchange = exchange_] { return !exchange->is_abandoned(); };
  }
  [[nodiscard]] bool is_answered() const { return is_answered_; }

  void answer(std::string body, std::string_view type = protocol::json_type);
  void done();  // 200 without a body
  void refuse(const protocol::Refusal& refusal);
  void refuse(protocol::Status status, std::string_view why) { refuse(protocol::refusal(status, why)); }
  // In the form that existing clients know: {"errors":{"0":"..."}}.
  void refuse(const Refusals& refusals);
  std::shared_ptr<transport::Stream> stream();

 private:
  void send(int status, std::string_view type, std::string body);

  std::shared_ptr<transport::Exchange> exchange_;
  Visitor visitor_;
  Answered answered_;
  bool is_answered_ = false;
};

using SharedCall = std::shared_ptr<Call>;

}  // namespace zeus::daemon
