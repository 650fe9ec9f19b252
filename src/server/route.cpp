#include "server/route.hpp"

#include <algorithm>
#include <iterator>

namespace zeus::server {

transport::Answer json_answer(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", std::string{protocol::json_type}}}, .body = std::move(body)};
}

std::vector<Route> all_routes() {
  std::vector<Route> all;
  for (std::vector<Route> some :
       {service_routes(), overview_routes(), job_routes(), recurrence_routes(), existing_routes(), pipeline_routes()}) {
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

}  // namespace zeus::server
