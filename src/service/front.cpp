#include "service/front.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace zeus::service {

namespace {

bool fits(std::string_view form, std::string_view path) {
  if (form.ends_with('*')) {
    return path.starts_with(form.substr(0, form.size() - 1));
  }
  if (form.find('{') == std::string_view::npos) {
    return form == path;
  }
  return path.starts_with('/') &&
         std::ranges::equal(segments_of(form), segments_of(path), [](std::string_view wanted, std::string_view given) {
           return is_parameter(wanted) ? !given.empty() : wanted == given;
         });
}

}  // namespace

// Leaves out the first one, which is empty.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> all;
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    all.push_back(path.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

bool is_parameter(std::string_view segment) {
  return segment.starts_with('{');
}

Front::Front(const Clock& clock, const Door& door, const Access& access, std::vector<Route> routes, Refuse refuse,
             Answered answered)
    : clock_{clock},
      door_{door},
      access_{access},
      routes_{std::move(routes)},
      refuse_{std::move(refuse)},
      answered_{std::move(answered)} {
}

const Route* Front::find(std::string_view method, std::string_view path, std::vector<std::string_view>& allowed) const {
  for (const Route& route : routes_) {
    if (!fits(route.path, path)) {
      continue;
    }
    if (route.method == "*" || route.method == method || (route.takes_head && method == "HEAD")) {
      return &route;
    }
    allowed.push_back(route.method);
  }
  return nullptr;
}

std::size_t Front::longest_body(std::string_view method, std::string_view target) const {
  std::vector<std::string_view> allowed;
  const Route* const route = find(method, target.substr(0, target.find('?')), allowed);
  return route == nullptr ? Route{}.longest_body : route->longest_body;
}

void Front::handle(std::shared_ptr<transport::Exchange> exchange) const {
  const auto call = std::make_shared<Call>(*this, std::move(exchange), clock_.now());
  const transport::Request& request = call->request();
  std::vector<std::string_view> allowed;
  call->route_ = find(request.method, request.path, allowed);
  if (const auto foreign = refuse_other_sites(request, call->peer(), door_, access_)) {
    call->answer(refuse_(*foreign));
    return;
  }
  if (call->route_ == nullptr && !allowed.empty()) {
    transport::Answer refusal = refuse_(Refusal{405, ErrorKind::invalid_argument, "that path does not have this method",
                                                fmt::format("it has {}", fmt::join(allowed, " and "))});
    refusal.headers.add("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
    call->answer(std::move(refusal));
    return;
  }
  try {
    if (call->route_ == nullptr) {
      throw Refusal{404, ErrorKind::not_found, "there is nothing at that path", std::string{door_.path_advice}};
    }
    call->visitor_ = identify(request, call->peer(), call->route_->needs, door_, access_, clock_.wall());
    require(call->visitor_, call->route_->needs, door_);
    call->is_admitted_ = true;
    call->route_->handler(call);
  } catch (const Error& error) {
    call->refuse(error);
  } catch (const std::exception& failure) {
    call->fail(failure);
  }
}

bool Front::still_admits(const Call& call) const {
  try {
    require(identify(call.request(), call.peer(), call.route_->needs, door_, access_, clock_.wall()),
            call.route_->needs, door_);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

transport::Answer Front::refusal(const Route* route, const Error& error) const {
  transport::Answer answer = route != nullptr && route->refuse ? route->refuse(error) : refuse_(error);
  if (answer.status == 401) {
    answer.headers.add(door_.challenge_header, door_.challenge);
  }
  return answer;
}

void Front::note(const Call& call, int status, std::string_view body) const {
  if (answered_) {
    answered_(call, status, body, clock_.now() - call.began_);
  }
}

}  // namespace zeus::service
