// Operations on the service itself.

#include "protocol/jobs_api.hpp"
#include "protocol/metrics.hpp"
#include "server/route.hpp"
#include "server/service.hpp"

namespace zeus::server {

using protocol::Scope;

namespace {

constexpr std::string_view plain_type = "text/plain; charset=utf-8";

protocol::ServiceAnswer describe_service(Service& service, const Call& /*call*/) {
  return {.version = service.version, .instance = service.instance, .tokens = service.tokens};
}

Text openapi(Service& service, const Call& /*call*/) {
  return {service.openapi};
}

Text health(Service& /*service*/, const Call& /*call*/) {
  return {"ok\n"};
}

Text readiness(Service& service, const Call& /*call*/) {
  service.store.check();
  return {"ready\n"};
}

Text metrics(Service& service, const Call& /*call*/) {
  return {service.metrics()};
}

}  // namespace

std::vector<Route> service_routes() {
  std::vector<Route> all{
      route({"describeService", "GET", "/api/v1", service::Anyone{}, "Describe this service"}, describe_service),
      route({"showOpenApi",
             "GET",
             "/api/v1/openapi.json",
             service::Anyone{},
             "This interface, as OpenAPI 3.1",
             {},
             protocol::json_type},
            openapi),
      route({"checkHealth", "GET", "/healthz", service::Anyone{}, "Whether the process serves", {}, plain_type},
            health),
      route({"checkReadiness",
             "GET",
             "/readyz",
             service::Anyone{},
             "Whether its database answers, and is the one that was opened",
             {},
             plain_type},
            readiness),
      route({"showMetrics", "GET", "/metrics", Scope::metrics, "Numbers for Prometheus", {}, protocol::metrics_type},
            metrics),
  };
  constexpr std::size_t without_database = 3;
  for (std::size_t i = 0; i < without_database; ++i) {
    all[i].at_once = true;
  }
  all[without_database].patience = Seconds{2};
  return all;
}

}  // namespace zeus::server
