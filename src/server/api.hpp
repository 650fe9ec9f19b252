// Takes each request to its operation: checks that it is not another site's, who sends it and with which rights, and
// its parameters, then queues it for a worker. Runs on the loop's thread, except for answers, which workers give.
#pragma once

#include "base/clock.hpp"
#include "base/log_writer.hpp"
#include "server/access.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
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

class Api {
 public:
  // Called for each answer, on the thread that gives it.
  using Answered = std::function<void(std::string_view route, int status, Seconds took)>;

  // The arguments must outlive it. `log` may be null.
  Api(transport::EventLoop& loop, Service& service, transport::Workers& workers, Clock& clock, LogWriter* log,
      Answered answered);

  void set_access(Access access) { access_ = std::move(access); }
  void handle(std::shared_ptr<transport::Exchange> exchange);
  [[nodiscard]] std::size_t longest_body(std::string_view method, std::string_view target) const;
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  // A request that awaits its answer.
  struct Asked {
    std::shared_ptr<transport::Exchange> exchange;
    const Route* route = nullptr;  // null if there is none
    std::string user;
    Instant began;
  };

  const Route& find(const transport::Request& request, Call& call) const;
  [[nodiscard]] const Route* match(std::string_view method, std::string_view path,
                                   std::vector<std::string>* allowed) const;
  void admit(Asked& asked);
  [[nodiscard]] bool may_go_on(const Asked& asked) const;
  void answer(const Asked& asked, transport::Answer answer) const;
  void note(const Asked& asked, int status) const;
  void work_for(const Asked& asked, const Call& call, const std::string& about) const;
  void lose_patience(const Asked& asked, Seconds patience);

  transport::EventLoop& loop_;
  Service& service_;
  transport::Workers& workers_;
  Clock& clock_;
  LogWriter* log_;
  Answered answered_;
  Access access_;
  std::list<transport::EventLoop::Watch> limits_;  // when requests with a time limit are refused
  const std::vector<Route>& routes_;
};

// Fills in the parameters of the route: an invalid_argument Error names the first wrong one.
void read_parameters(const Route& route, Call& call);

}  // namespace zeus::server
