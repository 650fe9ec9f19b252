#include "server/job_quota.hpp"

#include "server/problem.hpp"

#include <fmt/format.h>

namespace zeus::server {

void require_room(const Service& service, const std::string& user) {
  constexpr int forbidden = 403;
  if (service.store.jobs_of(user) >= service.jobs_of_a_user) {
    throw Refusal{forbidden, ErrorKind::permission_denied,
                  fmt::format("this user has {} jobs, which is as many as one may have", service.jobs_of_a_user),
                  "have some of them forgotten"};
  }
}

}  // namespace zeus::server
