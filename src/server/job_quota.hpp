// How many jobs one user may have. A pure question to the store; any thread.
#pragma once

#include "server/service.hpp"

#include <string>

namespace zeus::server {

// A user who has as many as one may have is refused another: 403 as a Refusal.
void require_room(const Service& service, const std::string& user);

}  // namespace zeus::server
