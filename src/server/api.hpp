// Takes each request that the front admits to its operation: checks its parameters, then queues it for a worker. Runs
// on the loop's thread, except for answers, which workers give.
#pragma once

#include "base/clock.hpp"
#include "base/log_writer.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
#include "service/access.hpp"
#include "service/call.hpp"
#include "service/front.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"
#include "transport/workers.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::server {

inline constexpr service::Door door{
    .kind = "server",
    .machine = "server",
    .has_pages = true,
    .takes_passwords = true,
    .is_strict_at_home = true,
    .challenge_header = "WWW-Authenticate",
    .challenge = R"(Bearer realm="zeus")",
    .name_advice = "use its address",
    .no_token_advice = "send a token as 'Authorization: Bearer TOKEN', or as the password of the server's URL",
    .bad_token_advice = "send a token as 'Authorization: Bearer TOKEN', or as the password of the server's URL",
    .scope_advice = "ask for a token that has it",
    .path_advice = "/api/v1/openapi.json lists all paths",
};

class Api {
 public:
  // Called for each answer, on the thread that gives it.
  using Answered = std::function<void(std::string_view route, int status, Seconds took)>;

  // The arguments must outlive it. `log` may be null.
  Api(transport::EventLoop& loop, Service& service, transport::Workers& workers, Clock& clock, LogWriter* log,
      Answered answered);

  void set_access(service::Access access) { access_ = std::move(access); }
  void handle(std::shared_ptr<transport::Exchange> exchange) { front_.handle(std::move(exchange)); }
  [[nodiscard]] std::size_t longest_body(std::string_view method, std::string_view target) const {
    return front_.longest_body(method, target);
  }
  [[nodiscard]] const std::vector<Route>& operations() const { return operations_; }
  // The operations, for a front.
  std::vector<service::Route> routes();

 private:
  void begin(const Route& route, const SharedCall& call);
  void work_for(const Route& route, Call& call, const std::string& about) const;
  void lose_patience(const SharedCall& call, Seconds patience);
  void note(const Call& call, int status, Seconds took) const;

  transport::EventLoop& loop_;
  Service& service_;
  transport::Workers& workers_;
  Clock& clock_;
  LogWriter* log_;
  Answered answered_;
  std::list<transport::EventLoop::Watch> limits_;  // when requests with a time limit are refused
  const std::vector<Route>& operations_;
  service::Access access_;
  service::Front front_;
};

// Fills in the parameters of the route: an invalid_argument Error names the first wrong one.
void read_parameters(const Route& route, Call& call);

}  // namespace zeus::server
