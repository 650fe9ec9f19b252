// Takes each request to its operation: is it another site's, who asks, what for, may he, does it fit the table; then it
// waits for a worker. The loop's thread, but for answers, which workers give.
#pragma once

#include "base/clock.hpp"
#include "base/log_writer.hpp"
#include "server/access.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
#include "server/workers.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"

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
  // Told of each answer, on whatever thread it was given.
  using Answered = std::function<void(std::string_view route, int status, Seconds took)>;

  // What it is given outlives it. `log` may be null.
  Api(transport::EventLoop& loop, Service& service, Workers& workers, Clock& clock, LogWriter* log, Answered answered);

  void set_access(Access access) { access_ = std::move(access); }
  void handle(std::shared_ptr<transport::Exchange> exchange);
  [[nodiscard]] std::size_t longest_body(std::string_view method, std::string_view target) const;
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  // A request on its way to its answer.
  struct Asked {
    std::shared_ptr<transport::Exchange> exchange;
    const Route* route = nullptr;  // null where there is none
    std::string user;
    Instant began;
  };

  const Route& find(const transport::Request& request, Call& call) const;
  [[nodiscard]] const Route* match(std::string_view method, std::string_view path,
                                   std::vector<std::string>* allowed) const;
  void admit(Asked& asked);
  void answer(const Asked& asked, transport::Answer answer) const;
  void note(const Asked& asked, int status) const;
  void work_for(const Asked& asked, const Call& call, const std::string& about) const;
  void lose_patience(const Asked& asked, Seconds patience);

  transport::EventLoop& loop_;
  Service& service_;
  Workers& workers_;
  Clock& clock_;
  LogWriter* log_;
  Answered answered_;
  Access access_;
  std::list<transport::EventLoop::Watch> limits_;  // of the patience with some requests
  const std::vector<Route>& routes_;
};

// Fills in the parameters of the route: an invalid_argument Error says which one is not what it should be.
void read_parameters(const Route& route, Call& call);

}  // namespace zeus::server
