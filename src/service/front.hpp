// What stands between the connections of a service and its routes: one table of routes, one admission, one way to
// refuse, and one place where every answer is noted. A service declares the table and its door.
//
// Threads: handle() and still_admits() run on the thread that owns `access`; answers may come from any. The arguments
// outlive the front, and the front its calls.
#pragma once

#include "base/clock.hpp"
#include "service/access.hpp"
#include "service/call.hpp"
#include "transport/http.hpp"
#include "transport/server.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::service {

inline constexpr std::string_view other_route = "other";

struct Route {
  std::string_view name = other_route;  // in metrics and the log
  std::string_view method = "GET";      // "*": any
  // "/jobs/{job}"; "*" at its end stands for any text. Of several routes that fit, the first one counts.
  std::string_view path;
  Needs needs = {};
  // Answers now or later; an Error that it throws is refused, and any other exception is a failure of ours.
  std::function<void(const SharedCall& call)> handler;
  std::function<transport::Answer(const Error&)> refuse = {};  // if it has another form than the service's
  std::size_t longest_body = std::size_t{1} << 20;
  bool takes_head = false;  // HEAD, too
};

// The parts of a path between its slashes.
std::vector<std::string_view> segments_of(std::string_view path);
bool is_parameter(std::string_view segment);  // "{job}"

class Front {
 public:
  using Refuse = std::function<transport::Answer(const Error&)>;
  // Called for each answer before it goes out, on the thread that gives it.
  using Answered = std::function<void(const Call& call, int status, std::string_view body, Seconds took)>;

  Front(const Clock& clock, const Door& door, const Access& access, std::vector<Route> routes, Refuse refuse,
        Answered answered = {});
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  ~Front() = default;

  void handle(std::shared_ptr<transport::Exchange> exchange) const;
  // The same, for a server that ends before the front.
  [[nodiscard]] transport::HttpServer::Handler handler() const {
    return [this](std::shared_ptr<transport::Exchange> exchange) { handle(std::move(exchange)); };
  }
  // For a request of which the head alone is known.
  [[nodiscard]] std::size_t longest_body(std::string_view method, std::string_view target) const;

  // For calls.
  [[nodiscard]] bool still_admits(const Call& call) const;
  [[nodiscard]] transport::Answer refusal(const Route* route, const Error& error) const;
  void note(const Call& call, int status, std::string_view body) const;

 private:
  // Null if none fits; then `allowed` gets the methods of those whose path does.
  const Route* find(std::string_view method, std::string_view path, std::vector<std::string_view>& allowed) const;

  const Clock& clock_;
  const Door& door_;
  const Access& access_;
  std::vector<Route> routes_;
  Refuse refuse_;
  Answered answered_;
};

}  // namespace zeus::service
