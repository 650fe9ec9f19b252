// One request on its way to its answer: who asks, what, and the ways to answer. A front makes it, and admits it before
// its route's handler gets it. Any thread may answer, at once or later, and of several answers the first counts. The
// front outlives it.
#pragma once

#include "base/clock.hpp"
#include "protocol/error_body.hpp"
#include "protocol/query.hpp"
#include "service/access.hpp"
#include "transport/http.hpp"
#include "transport/server.hpp"

#include <zeus/error.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::service {

class Front;
struct Route;

class Call {
 public:
  Call(const Front& front, std::shared_ptr<transport::Exchange> exchange, Instant began, Visitor visitor = {})
      : front_{front}, exchange_{std::move(exchange)}, began_{began}, visitor_{std::move(visitor)} {}

  [[nodiscard]] const transport::Request& request() const { return exchange_->request(); }
  [[nodiscard]] const std::string& body() const { return request().body; }
  [[nodiscard]] const transport::Peer& peer() const { return exchange_->peer(); }
  [[nodiscard]] const Visitor& visitor() const { return visitor_; }
  // As the table has it, or "other" for a path in no table: clients do not choose it.
  [[nodiscard]] std::string_view route_name() const;
  [[nodiscard]] bool is_admitted() const { return is_admitted_; }
  // Whether its token, which is checked again, still gives the right to it. The thread that admits.
  [[nodiscard]] bool may_go_on() const;

  // Parameters that were set(): decoded and within their bounds. An optional one that is not given is nothing.
  [[nodiscard]] const std::string& text(std::string_view name) const { return texts_.at(std::string{name}); }
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const { return find_number(name).value(); }
  [[nodiscard]] std::optional<std::uint64_t> find_number(std::string_view name) const;
  [[nodiscard]] bool says(std::string_view name) const { return find(name) == "true"; }
  // Before any other thread has the call.
  void set(std::string_view name, std::string value) { texts_.insert_or_assign(std::string{name}, std::move(value)); }

  // Refuses the request and returns false unless the query consists of these parameters.
  bool read_query(std::initializer_list<protocol::Parameter> parameters);

  // For work on the client's behalf: whether the client still waits for it.
  [[nodiscard]] std::function<bool()> wanted() const {
    return [exchange = exchange_] { return !exchange->is_abandoned(); };
  }
  [[nodiscard]] bool is_abandoned() const { return exchange_->is_abandoned(); }
  [[nodiscard]] bool is_answered() const { return is_answered_; }

  void answer(transport::Answer answer);
  void answer(std::string body, std::string_view type = protocol::json_type);  // 200
  void done() { answer(transport::Answer{}); }                                 // 200 without a body
  // In the form that the route, or the service, has for it.
  void refuse(const Error& error);
  // Where the form is part of an existing service's interface.
  void refuse(const protocol::Refusal& refusal);
  void refuse(protocol::Status status, std::string_view why) { refuse(protocol::refusal(status, why)); }
  // An exception that is not an Error is a mistake in the program: the log has it with the route, and the client gets a
  // 500 without its words.
  void fail(const std::exception& failure);
  std::shared_ptr<transport::Stream> stream(transport::Headers headers);
  // Its client is gone, and nothing was begun for it.
  void leave();

 private:
  friend class Front;

  // Whether this is the first answer, which is noted.
  bool is_first(int status, std::string_view body);

  const Front& front_;
  std::shared_ptr<transport::Exchange> exchange_;
  Instant began_;
  const Route* route_ = nullptr;  // null if there is none
  Visitor visitor_;
  bool is_admitted_ = false;
  std::atomic<bool> is_answered_ = false;
  std::map<std::string, std::string> texts_;
};

using SharedCall = std::shared_ptr<Call>;

// A refusal as an answer; one that is worth another try has a time for it.
transport::Answer answer_of(const protocol::Refusal& refusal);

}  // namespace zeus::service
